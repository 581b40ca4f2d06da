// SPDX-License-Identifier: BSD-3-Clause
// The prefix folder: names of files below it, and lists of the files that outputs have there.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "scr/cache.hpp"

namespace scr_impl {

/// Makes a name of a dataset of Fenix out of any name.
std::string label_of(const std::string& name);

class Prefix {
 public:
  /// Makes the folder, if it is not there. Returns false if it cannot.
  bool open(const std::filesystem::path& folder);
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

  /// Returns the name of a file relative to the folder, or nothing for files outside.
  [[nodiscard]] std::optional<std::string> relative(const char* name) const;

  /// Copies the files of an output to their places, and lists them.
  bool publish(const std::string& dataset, int rank, const std::vector<CachedFile>& files) const;
  /// Forgets the list of an output, and removes its files if they are not to stay. Returns whether there was one.
  bool forget(const std::string& dataset, bool files_stay) const;

 private:
  [[nodiscard]] std::filesystem::path list_of(const std::string& dataset) const;
  void remove_with_folders(const std::string& name) const;

  std::filesystem::path folder_;
};

}  // namespace scr_impl
