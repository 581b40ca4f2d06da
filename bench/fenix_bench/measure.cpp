// SPDX-License-Identifier: BSD-3-Clause
#include "measure.hpp"

#include <algorithm>

namespace bench {

int iterations_for(std::uint64_t bytes) {
  constexpr std::uint64_t kTogether = std::uint64_t{4} << 20;
  return static_cast<int>(std::clamp<std::uint64_t>(kTogether / bytes, 1, 1000));
}

Result measure(Subject& subject, const Options& options, const Plan& plan) {
  const Team& team = subject.team();
  Result result{plan.name, subject.of(), plan.iterations, Times{}, Times{}, {}};
  Times ignored;
  for (int repetition = -options.warmup; repetition < options.repetitions; ++repetition) {
    const bool counts = repetition >= 0;
    plan.prepare();
    team.barrier();
    team.record(subject.copy(plan.iterations, plan.until_all) / plan.iterations, counts ? *result.copy : ignored);
    plan.prepare();
    team.barrier();
    team.record(plan.run(plan.iterations) / plan.iterations, counts ? *result.times : ignored);
  }
  return result;
}

}  // namespace bench
