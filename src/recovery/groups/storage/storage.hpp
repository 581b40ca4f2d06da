// SPDX-License-Identifier: BSD-3-Clause
// The store behind memory, as a job uses it: its run, what is flushed, and what groups go on from. Switched on by FENIX_STORE.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/group.hpp"
#include "recovery/groups/storage/commit_planner.hpp"
#include "recovery/groups/storage/flushing.hpp"
#include "recovery/groups/storage/group_start.hpp"
#include "recovery/groups/storage/job_store.hpp"
#include "recovery/groups/storage/memory_lease.hpp"
#include "recovery/groups/storage/storage_groups.hpp"

namespace fenix_impl {

class Storage {
 public:
  using Check = std::function<void()>;

  /// Begins a use of Fenix: reads the settings.
  void begin();
  /// Ends the use: waits for flushes that are under way, for a while. is_first: this rank notes for all that the run has ended.
  void finish(bool is_first) noexcept;

  [[nodiscard]] JobStore& job() { return job_; }
  [[nodiscard]] MemoryLease& lease() { return lease_; }
  [[nodiscard]] CommitPlanner& planner() { return planner_; }
  [[nodiscard]] GroupStart& start() { return start_; }
  /// Returns what has become of the flushes of this process.
  [[nodiscard]] Flushing& flushes() { return flushing_; }
  /// Returns the datasets of the latest list.
  [[nodiscard]] std::vector<Listed>& listed() { return listed_; }

  /// Forgets a group that is deleted, and its snapshots that are kept for the next job. Its flushes go on. generation: the latest one.
  void forget(int group_id, std::uint32_t generation);
  /// Writes a snapshot, and returns when all ranks have it in the store. Collective.
  void flush(Group& group, const SnapshotChoice& choice, const std::string& label, const Check& check);
  /// Begins to write a snapshot. Returns a number for Flushing::outcome(). Collective.
  [[nodiscard]] std::uint64_t begin_flush(Group& group, const SnapshotChoice& choice, const std::string& label,
                                          const Check& check);
  [[nodiscard]] Flushing::Progress progress(Group& group, int time_stamp);
  /// Sets how often commits of a group are flushed: each n-th one, or 0 for never.
  void set_every(Group& group, int every);
  /// Flushes the latest commit of this rank, if it is its turn. Local; does not wait for a file system.
  void after_commit(Group& group) noexcept;

 private:
  void clear();
  Epoch agree(Group& group, const SnapshotChoice& choice, const std::string& label, const Check& check);
  void offer_commit(Group& group, StorageGroup& mine);

  JobStore job_;
  StorageGroups groups_;
  Flushing flushing_;
  MemoryLease lease_{job_, groups_};
  CommitPlanner planner_{job_, groups_, flushing_};
  GroupStart start_{job_, groups_, lease_, flushing_, planner_};
  std::vector<Listed> listed_;
};

}  // namespace fenix_impl
