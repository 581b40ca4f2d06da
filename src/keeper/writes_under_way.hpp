// SPDX-License-Identifier: BSD-3-Clause
// The datasets that the keeper is writing, or is about to. Threads may use it at the same time.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "store/dataset_name.hpp"

namespace fenix_impl {

class WritesUnderWay {
 public:
  void begin(const DatasetName& name) {
    const std::lock_guard lock(mutex_);
    names_.insert(name);
  }
  void end(const DatasetName& name) {
    const std::lock_guard lock(mutex_);
    const auto found = names_.find(name);
    if (found != names_.end()) names_.erase(found);
  }
  /// Notes whether the file system has stopped to answer: then nothing is being written, and nobody is to wait for it.
  void note_stuck(bool is_stuck) { is_stuck_ = is_stuck; }
  /// Whether a dataset of a group is among them that an earlier run has left, and that is newer than another one, if there is one.
  [[nodiscard]] bool has_newer(std::int32_t group, std::uint32_t run, const std::optional<DatasetName>& than) {
    const std::lock_guard lock(mutex_);
    return !is_stuck_ && std::any_of(names_.begin(), names_.end(), [&](const DatasetName& each) {
      return each.group == group && each.run < run && (!than || is_older(*than, each));
    });
  }
  [[nodiscard]] std::vector<DatasetName> all() {
    const std::lock_guard lock(mutex_);
    return {names_.begin(), names_.end()};
  }

 private:
  std::mutex mutex_;
  std::multiset<DatasetName> names_;
  std::atomic<bool> is_stuck_{false};
};

}  // namespace fenix_impl
