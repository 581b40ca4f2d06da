// SPDX-License-Identifier: BSD-3-Clause
// The groups of this process, as their work with the store has to know them.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/group.hpp"
#include "recovery/groups/storage/commit_schedule.hpp"
#include "recovery/groups/storage/flushing.hpp"
#include "store/dataset_name.hpp"

namespace fenix_impl {

/// A group is for one thread at a time.
struct StorageGroup {
  Generation generation;  ///< in which it was attached to the store
  int every = 0;          ///< commits, of which the last one is flushed; 0: none
  /// The keeper could not be reached. Looks are too rare for a Deadline.
  std::chrono::steady_clock::time_point quiet_until;
  CommitSchedule schedule;
  std::optional<DatasetName> begun_with;  ///< and has not committed since
  std::vector<std::string> passed_over;   ///< datasets, when it began
  Flushing::OfGroup flushes;
};

/// Threads may use it at the same time, for different groups.
class StorageGroups {
 public:
  StorageGroup& of(const Group& group) {
    const std::lock_guard lock(mutex_);
    return groups_[group.parameters().id];
  }
  /// Returns null if the group has not been attached to the store.
  StorageGroup* find(const Group& group) {
    const std::lock_guard lock(mutex_);
    const auto found = groups_.find(group.parameters().id);
    return found != groups_.end() ? &found->second : nullptr;
  }
  void erase(int group_id) {
    const std::lock_guard lock(mutex_);
    groups_.erase(group_id);
  }
  /// Returns all, at the end of the use, when no other thread has any of them.
  [[nodiscard]] std::map<int, StorageGroup>& all() { return groups_; }

 private:
  std::map<int, StorageGroup> groups_;
  std::mutex mutex_;  ///< lock of the map
};

}  // namespace fenix_impl
