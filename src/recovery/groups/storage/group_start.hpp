// SPDX-License-Identifier: BSD-3-Clause
// The data that groups go on from when the job begins, or when the program asks for it: memory of an earlier run, or a dataset.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/group.hpp"
#include "recovery/groups/rejoin/rejoin.hpp"
#include "recovery/groups/storage/commit_planner.hpp"
#include "recovery/groups/storage/flushing.hpp"
#include "recovery/groups/storage/job_store.hpp"
#include "recovery/groups/storage/memory_lease.hpp"
#include "recovery/groups/storage/storage_groups.hpp"

namespace fenix_impl {

class GroupStart {
 public:
  using Check = std::function<void()>;

  GroupStart(JobStore& store, StorageGroups& groups, MemoryLease& lease, Flushing& flushing, CommitPlanner& planner)
      : store_(store), groups_(groups), lease_(lease), flushing_(flushing), planner_(planner) {}
  GroupStart(const GroupStart&) = delete;
  GroupStart& operator=(const GroupStart&) = delete;

  /// Whether a group goes on from the store; if not, whether the store has datasets of it, none of which could be used.
  enum class Resumed { no, yes, unusable };
  /// Returns what rejoin() has to know. team: of the group.
  [[nodiscard]] StoreOfJob for_rejoin(int group_id, Team& team);
  /// Prepares a group that has been formed, or taken up again. Collective over the group.
  Resumed reattach(Group& group, const RejoinResult& formed);
  /// Whether the store has the snapshot with which a group has begun in this job. Collective over the group.
  [[nodiscard]] bool has_dataset(Group& group);
  /// Goes on from another dataset, in place of all that the group has. label: of the user; empty: the newest one. Returns the time stamp.
  /// Collective. Throws Error(FENIX_ERROR_NODATA_FOUND) if there is none.
  int fetch(Group& group, const std::string& label, const Check& check);
  /// Goes on from the next older dataset if this one is no good on some rank; false then. Collective. Throws as fetch().
  bool end_restart(Group& group, bool is_good);

 private:
  /// The answer of the store, as all ranks hear it.
  struct Found {
    std::optional<DatasetPlan> plan;
    bool has_unusable = false;  ///< there are datasets that would have come before it, and cannot be used
  };
  [[nodiscard]] Found find(Group& group, const std::string& label, const std::vector<std::string>& passed_over);
  struct Loaded {
    Resumed resumed = Resumed::no;
    bool has_changed = false;  ///< what the group had before is gone
  };
  /// Loads the first dataset that can be loaded. passed_over: names of some that are of no use. Collective.
  Loaded load_newest(Group& group, const std::string& label, std::vector<std::string> passed_over);
  Resumed go_on_with_memory(Group& group, const RejoinResult& formed);
  int fetch_from(Group& group, const std::string& label, std::vector<std::string> passed_over);

  JobStore& store_;
  StorageGroups& groups_;
  MemoryLease& lease_;
  Flushing& flushing_;
  CommitPlanner& planner_;
};

}  // namespace fenix_impl
