// SPDX-License-Identifier: BSD-3-Clause
// Deleting members and snapshots, and removing what not all ranks have.
#pragma once

#include <cstdint>

#include "core/member/selection.hpp"
#include "core/state/operation_context.hpp"

namespace fenix_impl {

class Deletion {
 public:
  explicit Deletion(const OperationContext& context) : context_(context) {}

  /// Local.
  void delete_member(Member& member);
  /// Local; works without a team, too.
  void delete_snapshot(const SnapshotChoice& choice);
  /// Removes snapshots and members that are not on all ranks. Collective. False if the group itself has been deleted on some
  /// rank. is_deleted: on this one.
  bool make_consistent(bool is_deleted);

 private:
  template <class Condition>
  void delete_if(Condition&& condition);
  bool remove_inconsistent(bool is_deleted);

  const OperationContext& context_;
};

}  // namespace fenix_impl
