// SPDX-License-Identifier: BSD-3-Clause
// The folder with all datasets of a program. Its state is what its files say: nothing has to be mended after a crash.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "store/dataset.hpp"
#include "store/dataset_name.hpp"
#include "store/file_system.hpp"

namespace fenix_impl {

class Store {
 public:
  /// root: a folder that exists. files has to outlive this object. All functions throw StoreError.
  Store(FileSystem& files, std::string root) : files_(files), root_(std::move(root)) {}

  /// Begins a run: returns a number that no other run on this store has, larger than those of all datasets.
  [[nodiscard]] std::uint32_t begin_run();
  /// Returns the datasets of a group, complete or not; the newest run comes first, and in it the newest time stamp.
  [[nodiscard]] std::vector<DatasetName> datasets(std::int32_t group) const;
  /// Removes a dataset. One that has been removed in part is not complete.
  void remove(const DatasetName& name);

 private:
  FileSystem& files_;
  std::string root_;
};

}  // namespace fenix_impl
