// SPDX-License-Identifier: BSD-3-Clause
// istore: time in the call, and what the protection costs a loop that computes meanwhile.
#include <algorithm>

#include "measure.hpp"
#include "operations.hpp"

namespace bench {

namespace {

/// Touches no memory: only the core is needed. The result keeps the compiler from dropping it.
double spin(std::uint64_t rounds) {
  double a = 1, b = 2, c = 3, d = 4;
  for (std::uint64_t i = 0; i < rounds; ++i) {
    a = a * 0.999 + 0.001;
    b = b * 0.998 + 0.002;
    c = c * 0.997 + 0.003;
    d = d * 0.996 + 0.004;
  }
  return a + b + c + d;
}

double time_spin(std::uint64_t rounds) {
  const double start = seconds_now();
  const volatile double result = spin(rounds);
  static_cast<void>(result);
  return seconds_now() - start;
}

Fenix_Request begin(const Subject& subject) {
  Fenix_Request request;
  check(Fenix_Data_member_istore(subject.group(), kMember, FENIX_DATA_SUBSET_FULL, &request),
        "Fenix_Data_member_istore");
  return request;
}

void finish(const Subject& subject, Fenix_Request request) {
  check(Fenix_Data_wait(request), "Fenix_Data_wait");
  subject.commit_barrier();
}

/// From the call until the data is protected, when nobody computes.
double protection_time(Subject& subject) {
  std::vector<double> seconds;
  for (int i = 0; i < 5; ++i) {
    subject.compute();
    subject.team().barrier();
    const double start = seconds_now();
    const Fenix_Request request = begin(subject);
    check(Fenix_Data_wait(request), "Fenix_Data_wait");
    seconds.push_back(subject.team().greatest(seconds_now() - start));
    subject.commit_barrier();
  }
  return summarize(seconds).median;
}

/// Rounds of the loop that take so long when all ranks run it.
std::uint64_t rounds_for(double seconds, const Team& team) {
  constexpr std::uint64_t kTrial = 10'000'000;
  team.barrier();
  const double of_trial = team.greatest(std::min(time_spin(kTrial), time_spin(kTrial)));
  return static_cast<std::uint64_t>(static_cast<double>(kTrial) * seconds / of_trial) + 1;
}

}  // namespace

std::vector<Result> time_overlap(Subject& subject, const Options& options) {
  const Team& team = subject.team();
  const double protection = protection_time(subject);
  const std::uint64_t rounds = rounds_for(options.compute_factor * protection, team);
  Times alone, loop, rest, ignored;
  int runs = 0;

  const auto run = [&](int) {
    const bool counts = runs++ >= options.warmup;
    team.record(time_spin(rounds), counts ? alone : ignored);
    team.barrier();
    const double start = seconds_now();
    const Fenix_Request request = begin(subject);
    const double in_call = seconds_now() - start;
    const double spinning = time_spin(rounds);
    const double before_wait = seconds_now();
    finish(subject, request);
    const double waiting = seconds_now() - before_wait;
    team.record(spinning, counts ? loop : ignored);
    team.record(waiting, counts ? rest : ignored);
    return in_call;
  };
  Result call = measure(subject, options, {"istore", 1, [&] { subject.compute(); }, run, false});
  Result while_computing{"istore.loop", subject.of(), 1, loop, call.copy, {}};
  Result after{"istore.wait_commit", subject.of(), 1, rest, call.copy, {}};
  if (team.writes()) {
    while_computing.more = {{"ratio_to_loop_alone", ratio(loop, alone).median},
                            {"loop_alone_seconds", summarize(alone.slowest).median},
                            {"compute_factor", options.compute_factor},
                            {"protection_seconds", protection}};
  }
  return {call, while_computing, after};
}

}  // namespace bench
