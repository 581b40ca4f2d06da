// SPDX-License-Identifier: BSD-3-Clause
#include "operations.hpp"

// Functions of their own, so that callgrind can be told to count in them and nowhere else: the first store and the
// barriers between, which wait for other ranks, stay out.
extern "C" {

[[gnu::noinline]] int fenix_bench_steady_store(int group) {
  const int code = Fenix_Data_member_store(group, bench::kMember, FENIX_DATA_SUBSET_FULL);
  asm volatile("" : : : "memory");  // no jump instead of the call
  return code;
}

[[gnu::noinline]] int fenix_bench_steady_commit(int group) {
  const int code = Fenix_Data_commit(group, FENIX_TIME_STAMP_IGNORE);
  asm volatile("" : : : "memory");
  return code;
}

}  // extern "C"

namespace bench {

std::vector<Result> run_for_callgrind(Subject& subject, const Options& options) {
  const auto barrier = [&] { subject.team().barrier(); };
  for (int i = 0; i < subject.of().depth + 10; ++i) {
    subject.store();
    subject.commit_barrier();
    barrier();
  }
  for (int i = 0; i < options.latency_iterations; ++i) {
    check(fenix_bench_steady_store(subject.group()), "Fenix_Data_member_store");
    barrier();
    check(fenix_bench_steady_commit(subject.group()), "Fenix_Data_commit");
    barrier();
  }
  return {{"instructions", subject.of(), options.latency_iterations, {}, {}, {}}};
}

}  // namespace bench
