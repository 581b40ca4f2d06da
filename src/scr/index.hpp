// SPDX-License-Identifier: BSD-3-Clause
// The list of datasets below the prefix folder: a small file for each name. One rank reads and writes it, and waits for the file system for a
// while only. Files of other users are not read: an entry says which files are removed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace scr_impl {

/// Makes a name of a dataset of Fenix out of any name.
std::string label_of(const std::string& name);

struct IndexEntry {
  std::uint64_t id = 0;            ///< number of the dataset
  std::uint64_t count = 0;         ///< number of the checkpoint
  std::uint32_t flags = 0;         ///< of SCR_Start_output
  std::uint64_t created = 0;       ///< microseconds since 1970
  int ranks = 0;                   ///< that have written it
  bool has_failed = false;         ///< no job begins with it
  std::string name;                ///< as the program gave it
  std::vector<std::string> files;  ///< those below the prefix folder, relative to it
};

class Index {
 public:
  void set_folder(std::filesystem::path folder) { folder_ = std::move(folder); }

  /// Writes the entry of a name, in place of an earlier one.
  [[nodiscard]] bool put(const IndexEntry& entry) const;
  [[nodiscard]] std::optional<IndexEntry> get(const std::string& name) const;
  /// Finds an entry by the name that the dataset has in the store.
  [[nodiscard]] std::optional<IndexEntry> with_label(const std::string& label) const;
  /// Tells whether there is no entry of this name. False as well if that cannot be seen in time.
  [[nodiscard]] bool lacks(const std::string& name) const;
  /// Returns all entries, the one with the largest number first; or nothing if the list cannot be read, or not in time.
  [[nodiscard]] std::optional<std::vector<IndexEntry>> all() const;
  /// Returns false if there is an entry that cannot be removed.
  [[nodiscard]] bool remove(const std::string& name) const;

 private:
  [[nodiscard]] std::optional<IndexEntry> read(const std::string& label) const;
  [[nodiscard]] std::optional<std::vector<IndexEntry>> read_all() const;

  std::filesystem::path folder_;
};

}  // namespace scr_impl
