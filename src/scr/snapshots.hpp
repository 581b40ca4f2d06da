// SPDX-License-Identifier: BSD-3-Clause
// The checkpoints of this job that are in memory: snapshots of the group.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scr/job.hpp"
#include "scr/package.hpp"

namespace scr_impl {

class Snapshots {
 public:
  explicit Snapshots(Job& job) : job_(job) {}

  /// Reads the head of a snapshot. Returns nothing if this rank cannot. Collective.
  static std::optional<PackageHead> head_of(int time_stamp);
  /// Returns the time stamps of those that rank 0 has, newest first. Nothing if a rank has died. Collective.
  [[nodiscard]] std::optional<std::vector<int>> stamps() const;
  /// Notes the dataset of a snapshot that was committed.
  void note(int time_stamp, const std::string& name);
  /// Deletes the snapshots of a dataset: it must come back neither in this job, nor from memory that is kept for the next one. Collective.
  bool remove(const std::string& name);
  /// Forgets which datasets they have.
  void forget() { committed_.clear(); }

 private:
  /// Tells whether a snapshot has this dataset, as far as all ranks can say.
  bool is_of(int time_stamp, const std::string& name) const;

  Job& job_;
  std::map<int, std::string> committed_;  ///< datasets by time stamps; the same on all ranks
};

}  // namespace scr_impl
