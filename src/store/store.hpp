// SPDX-License-Identifier: BSD-3-Clause
// The folder with all datasets of a program. Its state is what its files say: nothing has to be mended after a crash.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "store/dataset.hpp"
#include "store/dataset_name.hpp"
#include "store/file_system.hpp"

namespace fenix_impl {

class Store {
 public:
  /// A dataset with which so many runs have begun, and none has committed since, comes after all others.
  static constexpr std::size_t kMostTries = 3;

  /// root: a folder that exists. files has to outlive this object. All functions throw StoreError.
  Store(FileSystem& files, std::string root) : files_(files), root_(std::move(root)) {}

  /// Begins a run: returns a number that no other run on this store has, larger than those of all datasets.
  [[nodiscard]] std::uint32_t begin_run();

  /// Notes that a run has come to its end, and asks. A run that was killed has not.
  void finish_run(std::uint32_t run);
  [[nodiscard]] bool has_finished(std::uint32_t run) const;
  /// Returns the number of the latest run, or 0.
  [[nodiscard]] std::uint32_t latest_run() const;

  /// Returns all datasets, complete or not; the newest run comes first, in it the newest generation, and in that the newest time stamp.
  [[nodiscard]] std::vector<DatasetName> datasets() const;
  [[nodiscard]] std::vector<DatasetName> datasets(std::int32_t group) const;
  /// Returns the plan of a dataset if it is complete.
  [[nodiscard]] std::optional<DatasetPlan> complete(const DatasetName& name) const;
  /// Returns the complete dataset of a group to go on from. First comes the one that the user has chosen. Then come the newest ones, and at
  /// last those that have been tried too often. Some may be passed over. With a label, only datasets with this name
  /// count: one that the user has given, or that of the folder.
  [[nodiscard]] std::optional<DatasetPlan> find(std::int32_t group, const std::string& label,
                                                std::span<const DatasetName> passed_over) const;

  /// Notes that a run begins with a dataset, and that such a run has committed since.
  void note_try(const DatasetName& name, std::uint32_t run);
  void forget_tries(const DatasetName& name);
  /// Chooses the dataset to go on from, in place of the newest one; nullopt: the newest one again.
  void set_current(const std::optional<DatasetName>& name);
  [[nodiscard]] std::optional<DatasetName> current() const;

  /// Removes a dataset. One that has been removed in part is not complete.
  void remove(const DatasetName& name);
  /// Removes datasets of a group that are older than the newest complete one: those that are not complete, and of the complete ones those
  /// beyond the newest so many (0: none). Those with a label, and the current one, stay.
  void prune(std::int32_t group, std::uint32_t kept);

 private:
  [[nodiscard]] std::size_t tries(const DatasetName& name) const;

  FileSystem& files_;
  std::string root_;
};

}  // namespace fenix_impl
