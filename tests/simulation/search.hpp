// SPDX-License-Identifier: BSD-3-Clause
// The search for schedules that break a promise.
#pragma once

#include <cstdint>
#include <string>

#include "schedule.hpp"

namespace fenix_simulation {

struct SearchOptions {
  double seconds = 60;
  std::uint64_t schedules = 0;  ///< 0: as many as there is time for
  std::uint64_t first_seed = 1;
  int jobs = 1;
  bool guided = true;
  bool until_failure = false;
  bool lists_points = false;  ///< that no schedule has passed
  std::string folder = ".";   ///< where schedules go that fail
};

/// Returns the number of schedules that failed.
std::uint64_t search(const SearchOptions& options);

}  // namespace fenix_simulation
