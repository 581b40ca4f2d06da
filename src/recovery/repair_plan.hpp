// SPDX-License-Identifier: BSD-3-Clause
// Who takes which place when ranks have died: a pure function, the same on all ranks.
#pragma once

#include <cstdint>
#include <vector>

namespace fenix_impl {

/// What a living process was before the repair.
struct Seat {
  std::int32_t place = -1;  ///< its rank in the resilient communicator, or -1 if it was a spare
  std::int32_t spare = -1;  ///< its position among the spares, or -1 if it was active
};

struct RepairPlan {
  std::vector<int> active;      ///< index, among the living, of the process that gets each place
  std::vector<bool> recovered;  ///< for each place: its process was a spare before
  std::vector<int> spares;      ///< indices of those that stay spares
  std::vector<int> failed;      ///< the dead: places, then (number of places) + position for spares; ascending
  bool shrunk = false;          ///< places are missing because the spares are used up
};

/// Spares take the lowest of the dead places, in their order. Places that nobody can take are closed up: survivors keep
/// their order. living is in any order.
[[nodiscard]] RepairPlan plan_repair(int places, int spares, const std::vector<Seat>& living);

}  // namespace fenix_impl
