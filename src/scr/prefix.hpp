// SPDX-License-Identifier: BSD-3-Clause
// The prefix folder: names of files below it, copies of files to their own places, and removal.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "scr/cache.hpp"

namespace scr_impl {

class Prefix {
 public:
  /// Makes the folder, if it is not there. Returns false if it cannot, or not in time.
  bool open(const std::filesystem::path& folder);
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

  /// Returns the name of a file relative to the folder, or nothing for files outside, and if the file system does not answer in time.
  [[nodiscard]] std::optional<std::string> relative(const char* name) const;

  /// Copies files to their own places. Returns the name of one that cannot be written, or nothing.
  [[nodiscard]] std::optional<std::string> publish(const std::vector<CachedFile>& files) const;
  /// Removes files, and folders that become empty. Names that lead elsewhere are left out, also by links. Returns whether all of the others
  /// have gone.
  [[nodiscard]] bool remove(const std::vector<std::string>& names) const;

 private:
  [[nodiscard]] std::optional<std::string> look_for(const std::string& name) const;

  std::filesystem::path folder_;
};

}  // namespace scr_impl
