// SPDX-License-Identifier: BSD-3-Clause
// The ranks that have taken the places of dead ones, and the memory of the dead that is left on their nodes.
#pragma once

#include <map>
#include <set>

#include "core/group.hpp"

namespace fenix_impl {

class Replacements {
 public:
  /// Finds the replacements. Collective. is_one: whether this rank is one.
  void find(Team& team, bool is_one);
  [[nodiscard]] bool includes(int rank) const { return locations_.count(rank) != 0; }
  /// Whether a rank has taken over the memory of the dead one.
  [[nodiscard]] bool has_adopted(int rank) const { return adopted_.count(rank) != 0; }
  /// The same on all ranks.
  [[nodiscard]] bool several_have_adopted() const { return adopted_.size() > 1; }
  /// Returns the replacements that have nothing of what was there.
  [[nodiscard]] const std::set<int>& missing() const { return missing_; }

  /// Lets replacements take over the memory of dead ranks where a rank of the same node has kept it, or the keeper of the node: is_kept, on
  /// some ranks. Collective. They then know nearly as much as survivors. If they are cut short before the rest is there, too, they come back with
  /// nothing, as any replacement.
  void adopt_memory(Team& team, Group& group, bool is_kept);

 private:
  std::map<int, Location> locations_;
  std::set<int> adopted_;
  std::set<int> missing_;
};

}  // namespace fenix_impl
