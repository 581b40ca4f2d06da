// SPDX-License-Identifier: BSD-3-Clause
// The files of one dataset, while the program writes or reads them: in a private folder of the rank, or in their own places.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace scr_impl {

/// A file of a dataset.
struct CachedFile {
  std::string name;            ///< relative to the prefix folder
  std::filesystem::path path;  ///< where it is now
};

class Cache {
 public:
  Cache() = default;
  ~Cache() { clear(); }
  Cache(const Cache&) = delete;
  Cache& operator=(const Cache&) = delete;

  /// Sets the folders of which the first one that can be written is taken.
  void set_bases(std::vector<std::filesystem::path> bases) { bases_ = std::move(bases); }
  /// Removes folders of this user whose processes have died.
  void sweep() const;

  /// Makes the private folder. Returns false if that is not possible anywhere.
  bool open();
  /// Has files in their own places below the prefix folder.
  void open_in_place(const std::filesystem::path& prefix);
  /// Removes the private folder with all files. Files in their own places stay.
  void clear();

  /// Gives a file a place, always the same one, and makes its folder. The path is empty if that fails.
  std::filesystem::path add(const std::string& name);
  /// Finds a file by its name; if there is no such file, by the last part of it.
  [[nodiscard]] std::filesystem::path find(const std::string& name) const;
  /// Knows a file in its own place, whether it is there or not.
  void note(const std::string& name) { files_.push_back({name, prefix_ / name}); }
  [[nodiscard]] const std::vector<CachedFile>& files() const { return files_; }
  [[nodiscard]] bool is_in_place() const { return !prefix_.empty(); }

 private:
  bool make(const std::filesystem::path& base);

  std::vector<std::filesystem::path> bases_;
  std::filesystem::path folder_;
  std::filesystem::path prefix_;  // files are below it, if it is not empty
  int lock_ = -1;
  std::vector<CachedFile> files_;
};

}  // namespace scr_impl
