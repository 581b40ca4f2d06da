// SPDX-License-Identifier: BSD-3-Clause
// The private folder of a rank, in which the files of one dataset are while the program writes or reads them.
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

  /// Makes the folder. Returns false if that is not possible anywhere.
  bool open();
  /// Removes the folder with all files.
  void clear();

  /// Gives a file a place, always the same one. The path is empty if that fails.
  std::filesystem::path add(const std::string& name);
  /// Finds a file by its name; if there is no such file, by the last part of it.
  [[nodiscard]] std::filesystem::path find(const std::string& name) const;
  [[nodiscard]] const std::vector<CachedFile>& files() const { return files_; }

 private:
  bool make(const std::filesystem::path& base);

  std::vector<std::filesystem::path> bases_;
  std::filesystem::path folder_;
  int lock_ = -1;
  std::vector<CachedFile> files_;
};

}  // namespace scr_impl
