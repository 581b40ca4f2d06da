// SPDX-License-Identifier: BSD-3-Clause
// Which process gets which rank when some have died: a pure function, the same on all ranks.
#pragma once

#include <cstdint>
#include <vector>

namespace fenix_impl {

/// The role of a living process before the repair.
struct Seat {
  std::int32_t rank = -1;   ///< in the resilient communicator, or -1 if it was a spare
  std::int32_t spare = -1;  ///< position among the spares, or -1 if it was active
};

struct RepairPlan {
  std::vector<int> active;      ///< index, among the living, of the process that gets each rank
  std::vector<int> former;      ///< for each rank: the number that the rank had before
  std::vector<bool> recovered;  ///< for each rank: its process was a spare before
  std::vector<int> spares;      ///< indices of the processes that stay spares
  std::vector<int> failed;      ///< the dead: ranks, then (number of ranks) + position for spares; ascending
  bool shrunk = false;          ///< ranks are missing because the spares are used up
};

/// Plans the repair of so many active ranks and spares. Spares take the lowest of the dead ranks, in their order. Ranks that no spare
/// can take are closed up: survivors keep their order. living is in any order.
[[nodiscard]] RepairPlan plan_repair(int active, int spares, const std::vector<Seat>& living);

/// Whether the active processes, and then the spares, have the order of the living already.
[[nodiscard]] bool keeps_order(const RepairPlan& plan);

}  // namespace fenix_impl
