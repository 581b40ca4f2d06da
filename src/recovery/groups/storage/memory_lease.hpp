// SPDX-License-Identifier: BSD-3-Clause
// Memory that the keepers keep for the next job, for the lease of FENIX_KEEP, and what earlier jobs have left so.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "core/group.hpp"
#include "recovery/groups/storage/group_keeping.hpp"
#include "recovery/groups/storage/job_store.hpp"
#include "recovery/groups/storage/storage_groups.hpp"
#include "rma/team.hpp"

namespace fenix_impl {

/// Threads may use it at the same time, for different groups.
class MemoryLease {
 public:
  MemoryLease(JobStore& store, StorageGroups& groups) : store_(store), groups_(groups) {}

  /// Ends a use of Fenix.
  void clear();

  /// Returns the group that this rank had in an earlier run, if the keeper of the node has its memory; or null. team: of the new one. Local.
  [[nodiscard]] std::unique_ptr<Group> find(int group_id, Team& team);
  /// Returns the groups of which keepers have memory. Collective over the team. Throws Error(FENIX_ERROR_STORE) without a store.
  [[nodiscard]] GroupKeeping::Found find_all(Team& team);
  /// Has the keeper keep the memory of a group, if it has not this memory already.
  void keep(Group& group) noexcept;
  /// Has the keeper keep the latest commit of this rank. Throws Error.
  void keep_commit(Group& group, Flushing& flushing, const Flushing::OfGroup& mine);
  /// Forgets a group that is deleted, and its snapshots. generation: the latest one.
  void forget(int group_id, std::uint32_t generation);
  /// Forgets a snapshot that is deleted.
  void forget_snapshot(const Group& group, int time_stamp) noexcept;
  /// Has the keeper forget the memory of a group on this rank that earlier runs have left.
  void drop_earlier(const Group& group) noexcept;
  /// Has the keeper forget what earlier jobs have left in memory, as this one keeps none.
  void release_earlier() noexcept;
  /// Warns once if the keeper keeps nothing of this rank.
  void warn_of_refusal();

 private:
  JobStore& store_;
  StorageGroups& groups_;
  GroupKeeping keeping_;
  std::atomic<bool> has_warned_of_refusal_{false};
  std::atomic<bool> has_released_{false};
};

}  // namespace fenix_impl
