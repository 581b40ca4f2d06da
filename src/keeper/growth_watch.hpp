// SPDX-License-Identifier: BSD-3-Clause
// Whether somebody is writing a dataset: its files grow.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/lived_clock.hpp"
#include "store/dataset_name.hpp"
#include "store/file_system.hpp"

namespace fenix_impl {

/// Returns a number that changes when files of a dataset come, go or grow. Throws StoreError.
[[nodiscard]] std::uint64_t bytes_of(FileSystem& files, const std::string& root, const DatasetName& name);

class GrowthWatch {
 public:
  using Clock = LivedClock;

  /// quiet: a dataset that has not changed for so long is not being written.
  explicit GrowthWatch(Clock::duration quiet) : quiet_(quiet) {}

  /// Looks at a dataset. Returns false once it has not changed for a while, and from then on. Does not throw StoreError: what cannot be
  /// read does not grow.
  [[nodiscard]] bool may_grow(FileSystem& files, const std::string& root, const DatasetName& name);

 private:
  struct Seen {
    std::uint64_t bytes = 0;
    Clock::time_point changed;
    bool is_over = false;
  };

  Clock::duration quiet_;
  std::map<DatasetName, Seen> seen_;
};

}  // namespace fenix_impl
