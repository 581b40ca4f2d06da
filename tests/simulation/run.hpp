// SPDX-License-Identifier: BSD-3-Clause
// Runs a schedule.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schedule.hpp"
#include "world.hpp"

namespace fenix_simulation {

struct Outcome {
  Verdict verdict;
  std::uint64_t hash = 0;
  std::uint64_t switches = 0;
  Time time = 0;
  std::vector<Happened> happened;
  std::vector<Passage> passages;
  int restores = 0;
  int done = 0;
  std::vector<std::string> lines;  ///< if they were wanted
};

Outcome run(const Schedule& schedule, bool traces = false);

}  // namespace fenix_simulation
