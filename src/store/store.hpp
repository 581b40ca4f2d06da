// SPDX-License-Identifier: BSD-3-Clause
// The folder with all datasets of a program. Its state follows from its files: nothing has to be mended after a crash. The state of a dataset
// is decided by dataset_state.hpp; docs/store.md has the rules.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "store/dataset_name.hpp"
#include "store/dataset_state.hpp"
#include "store/file_system.hpp"
#include "store/plan.hpp"
#include "store/store_run.hpp"

namespace fenix_impl {

/// The result of a search.
struct FoundDataset {
  /// A dataset that cannot be used, and why.
  struct Unusable {
    DatasetName name;
    DatasetState state = DatasetState::incomplete;
    std::string why;
  };

  std::optional<DatasetPlan> plan;  ///< the dataset to go on from
  bool is_chosen = false;           ///< by the user
  std::vector<Unusable> unusable;   ///< those that would have come before it; all, if there is none
};

class Store {
 public:
  /// A dataset with which so many runs have begun, and none has committed since or come to its end, comes after all others.
  static constexpr std::size_t kMostTries = 3;

  /// root: a folder that exists. files has to outlive this object. All functions throw StoreError for the folder itself; a dataset that
  /// cannot be read is a state of it.
  Store(FileSystem& files, std::string root) : files_(files), root_(std::move(root)) {}

  /// Begins a run: its number is larger than those of all runs and datasets, and no other run has it, unless the run only reads.
  [[nodiscard]] StoreRun begin_run();
  /// Notes that a run has come to its end, and asks. A run that was killed has not.
  void finish_run(std::uint32_t run);
  [[nodiscard]] bool has_finished(std::uint32_t run) const;
  /// Whether another run has begun after this one.
  [[nodiscard]] bool has_successor(std::uint32_t run) const;
  /// Returns the number of the latest run, or 0.
  [[nodiscard]] std::uint32_t latest_run() const;

  /// Returns all datasets, whatever their state; the newest run comes first, in it the newest generation, and in that the newest time stamp.
  [[nodiscard]] std::vector<DatasetName> datasets() const;
  [[nodiscard]] std::vector<DatasetName> datasets(std::int32_t group) const;
  [[nodiscard]] DatasetLook look(const DatasetName& name) const { return look_at(files_, root_, name); }
  /// Returns the plan of a dataset if it is whole.
  [[nodiscard]] std::optional<DatasetPlan> complete(const DatasetName& name) const;
  /// Returns the whole dataset of a group to go on from. First comes the one that the user has chosen. Then come the newest ones, and at
  /// last those that have been tried too often. Some may be passed over. With a label, only datasets with this name
  /// count: one that the user has given, or that of the folder. No more datasets are looked at than it takes.
  [[nodiscard]] FoundDataset find(std::int32_t group, const std::string& label,
                                  std::span<const DatasetName> passed_over) const;

  /// Notes that a run begins with a dataset, and that such a run has committed since. A store that cannot be written has no such notes.
  void note_try(const DatasetName& name, std::uint32_t run);
  void forget_tries(const DatasetName& name);
  /// Chooses the dataset to go on from, in place of the newest one; nullopt: the newest one again.
  void set_current(const std::optional<DatasetName>& name);
  [[nodiscard]] std::optional<DatasetName> current() const;
  /// Returns the choice as current() does, and throws StoreError if there may be one that cannot be read now.
  [[nodiscard]] std::optional<DatasetName> choice() const;

  /// Removes a dataset, whatever its state: at first its folder gets a name that is none of a dataset. Throws StoreError if that fails, or if
  /// the files cannot be removed afterwards.
  void remove(const DatasetName& name);
  /// Removes the files of datasets that a crash has kept from being removed.
  void sweep();

 private:
  [[nodiscard]] bool is_worn(const DatasetLook& look) const;
  [[nodiscard]] std::uint64_t own_id();
  void remove_if_possible(const std::string& file) noexcept;

  FileSystem& files_;
  std::string root_;
};

}  // namespace fenix_impl
