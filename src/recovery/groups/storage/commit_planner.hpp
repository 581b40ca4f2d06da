// SPDX-License-Identifier: BSD-3-Clause
// When groups should commit, and when the job should end.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "core/group.hpp"
#include "recovery/groups/storage/commit_schedule.hpp"
#include "recovery/groups/storage/flushing.hpp"
#include "recovery/groups/storage/halting.hpp"
#include "recovery/groups/storage/job_store.hpp"
#include "recovery/groups/storage/storage_groups.hpp"

namespace fenix_impl {

class CommitPlanner {
 public:
  using Check = std::function<void()>;

  CommitPlanner(JobStore& store, StorageGroups& groups, Flushing& flushing)
      : store_(store), groups_(groups), flushing_(flushing) {}

  /// Begins a use of Fenix, for which the store has begun.
  void begin();
  /// Ends it.
  void clear();
  /// Begins anew with a group that is formed or taken up again.
  void begin_anew(const Group& group);
  /// Notes a commit of this rank.
  void note_commit(StorageGroup& group);
  /// Whether the environment says when to commit.
  [[nodiscard]] bool plans_commits() const { return plans_commits_; }

  /// Whether a group should commit. Collective.
  [[nodiscard]] bool needs_commit(Group& group, const Check& check);
  /// Returns whether it should commit as far as this rank knows. Local.
  [[nodiscard]] bool needs_commit_here(Group& group);
  /// Returns the schedule of a group if it has to know how long stores take, or null. Local.
  [[nodiscard]] CommitSchedule* measured_schedule(const Group& group);
  /// Whether the job should end. Collective over the group of all ranks.
  [[nodiscard]] bool should_halt(Group& world, const Check& check);
  /// Has the job end. Local. Throws Error(FENIX_ERROR_STORE).
  void halt(const std::string& reason);

 private:
  JobStore& store_;
  StorageGroups& groups_;
  Flushing& flushing_;
  bool plans_commits_ = false;
  Halting halting_;
  std::atomic<std::uint64_t> commits_{0};  ///< number of commits of all groups, by any thread
};

}  // namespace fenix_impl
