// SPDX-License-Identifier: BSD-3-Clause
// store, commit, commit_barrier, both, and the two of a part of the elements, or of data that is in its slot already.
#include <algorithm>

#include "measure.hpp"
#include "operations.hpp"

namespace bench {

namespace {

// Each store is one of other data: the library sees which blocks are as they were.
double time_both(Subject& subject, int iterations, int percent = 100) {
  double seconds = 0;
  for (int i = 0; i < iterations; ++i) {
    subject.change_blocks(percent);
    const double start = seconds_now();
    subject.store();
    subject.commit_barrier();
    seconds += seconds_now() - start;
  }
  return seconds;
}

double time_store(Subject& subject, int iterations) {
  double seconds = 0;
  for (int i = 0; i < iterations; ++i) {
    subject.change_blocks(100);
    const double start = seconds_now();
    subject.store();
    seconds += seconds_now() - start;
    subject.commit_barrier();
  }
  return seconds;
}

double time_commit(Subject& subject, int iterations, bool barrier) {
  double seconds = 0;
  for (int i = 0; i < iterations; ++i) {
    subject.change_blocks(100);
    subject.store();
    subject.team().barrier();
    const double start = seconds_now();
    if (barrier) {
      subject.commit_barrier();
    } else {
      check(Fenix_Data_commit(subject.group(), FENIX_TIME_STAMP_IGNORE), "Fenix_Data_commit");
    }
    seconds += seconds_now() - start;
    subject.team().barrier();
  }
  return seconds;
}

Operation operation_of(Subject& subject, const std::string& name) {
  if (name == "store") return [&](int iterations) { return time_store(subject, iterations); };
  if (name == "commit") return [&](int iterations) { return time_commit(subject, iterations, false); };
  if (name == "commit_barrier") return [&](int iterations) { return time_commit(subject, iterations, true); };
  return [&](int iterations) { return time_both(subject, iterations); };
}

}  // namespace

std::vector<Result> time_storing(Subject& subject, const Options& options, const std::string& operation) {
  const int iterations = operation == "latency" ? options.latency_iterations : iterations_for(subject.of().bytes);
  const bool until_all = operation != "store" && operation != "commit";
  const auto prepare = [&] { subject.compute(); };
  return {measure(subject, options, {operation, iterations, prepare, operation_of(subject, operation), until_all})};
}

std::vector<Result> time_partial(Subject& subject, const Options& options) {
  const std::size_t number = std::max<std::size_t>(1, subject.count() / 100);
  const std::size_t places = subject.count() / number;
  std::size_t place = 0;
  const auto move_on = [&] { place = (place + 1) % places; };

  const auto store_block = [&](int iterations) {
    double seconds = 0;
    for (int i = 0; i < iterations; ++i) {
      subject.compute(place * number, number);
      subject.team().barrier();
      const double start = seconds_now();
      Fenix_Data_subset block;
      check(Fenix_Data_subset_create_c(1, static_cast<MPI_Count>(place * number),
                                       static_cast<MPI_Count>((place + 1) * number - 1), 1, &block),
            "Fenix_Data_subset_create_c");
      check(Fenix_Data_member_store(subject.group(), kMember, block), "Fenix_Data_member_store");
      check(Fenix_Data_subset_delete(&block), "Fenix_Data_subset_delete");
      subject.commit_barrier();
      seconds += seconds_now() - start;
      move_on();
    }
    return seconds;
  };

  Result whole = time_storing(subject, options, "store_commit_barrier").front();
  whole.operation = "partial.whole";
  // The first ones still carry on all that the last whole store has changed.
  for (int i = 0; i < subject.of().depth + 3; ++i) static_cast<void>(store_block(1));
  Result part = measure(subject, options, {"partial", iterations_for(subject.of().bytes), [] {}, store_block, true});
  if (subject.team().writes()) part.more.emplace_back("ratio_to_whole", ratio(*part.times, *whole.times).median);
  return {whole, part};
}

std::vector<Result> time_unchanged(Subject& subject, const Options& options) {
  std::vector<Result> results;
  for (const int percent : {0, 1, 10, 50, 100}) {
    const auto store_all = [&, percent](int iterations) { return time_both(subject, iterations, percent); };
    // The first ones still write what the stores before have changed.
    (void)store_all(2 * (subject.of().depth + 3) + 8);
    results.push_back(measure(
        subject, options,
        {"unchanged." + std::to_string(100 - percent), iterations_for(subject.of().bytes), [] {}, store_all, true}));
  }
  return results;
}

std::vector<Result> time_inplace(Subject& subject, const Options& options) {
  const auto prepare = [&] { subject.compute(); };
  const auto in_buffer = [&](int) {
    const double start = seconds_now();
    subject.compute_again();
    subject.store();
    subject.commit_barrier();
    return seconds_now() - start;
  };
  const auto in_slot = [&](int) {
    const double start = seconds_now();
    void* slot = nullptr;
    check(Fenix_Data_member_stage_memory(subject.group(), kMember, &slot), "Fenix_Data_member_stage_memory");
    subject.compute_to(static_cast<std::int64_t*>(slot));
    check(Fenix_Data_member_stage_inplace(subject.group(), kMember, slot, FENIX_DATA_SUBSET_FULL),
          "Fenix_Data_member_stage_inplace");
    check(Fenix_Data_member_store(subject.group(), kMember, FENIX_DATA_SUBSET_PRESTAGED), "Fenix_Data_member_store");
    subject.commit_barrier();
    return seconds_now() - start;
  };
  Result buffer = measure(subject, options, {"inplace.buffer", 1, prepare, in_buffer, true});
  Result slot = measure(subject, options, {"inplace", 1, prepare, in_slot, true});
  if (subject.team().writes()) slot.more.emplace_back("ratio_to_buffer", ratio(*slot.times, *buffer.times).median);
  return {buffer, slot};
}

}  // namespace bench
