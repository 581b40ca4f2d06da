// SPDX-License-Identifier: BSD-3-Clause
// The end of what a group has: its team, its snapshots, or all of it.
#pragma once

#include "core/state/group_data.hpp"

namespace fenix_impl {

class Release {
 public:
  explicit Release(GroupData& data) : data_(data) {}

  /// Gives up the team and all that leads to peers. Commits stay. Local.
  void detach();
  /// Drops all snapshots and regions, and the other ranks' counts. Local.
  void forget_snapshots();
  /// Drops everything, but can still take part in make_consistent(). Local.
  void mark_deleted();
  /// Drops everything, and gives its memory back. Only the end of the group is left. Collective.
  void give_back_all();

 private:
  GroupData& data_;
};

}  // namespace fenix_impl
