// SPDX-License-Identifier: BSD-3-Clause
// The ranks of the team that a group has or had last, and who protects whom among them.
#pragma once

#include <vector>

#include "parity/placement.hpp"

namespace fenix_impl {

struct GroupRanks {
  int size = 0;   ///< ranks of the team; 0 before the first one
  int rank = -1;  ///< number of this one
  Placement placement;
  bool memory_is_real = false;  ///< the path makes all memory of a region real, used or not, on some rank at least

  /// Returns the ranks that protect this one or are protected by it.
  [[nodiscard]] std::vector<int> partners() const { return placement.partners(rank); }
  /// Returns the ranks that know how much this one has of each member: partners and some others.
  [[nodiscard]] std::vector<int> witnesses() const { return placement.witnesses(rank); }
};

}  // namespace fenix_impl
