// SPDX-License-Identifier: BSD-3-Clause
// The datasets of all jobs: their entries in the prefix folder, and what the store has of them.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "scr/job.hpp"
#include "scr/package.hpp"

namespace scr_impl {

class Catalog {
 public:
  explicit Catalog(Job& job) : job_(job) {}
  /// Ends a use of SCR.
  void clear();

  // Collective. They return whether they succeeded, the same on all ranks unless one has died.

  /// Reads the largest numbers.
  bool read_numbers();
  /// Removes all datasets if SCR_PREFIX_PURGE says so, and if this run may write to the store.
  bool purge_if_told();
  /// Writes the entry of a dataset.
  bool record(const PackageHead& head, const std::vector<std::string>& files);

  // On rank 0.

  /// Removes a dataset of this name, if there is one. Returns whether it is gone.
  bool remove(const std::string& name, bool files_stay) const;
  /// Removes the datasets after this one. Their files stay.
  void drop_later(std::uint64_t id) const;

  // On all ranks; rank 0 does the work.

  /// Removes older data when a dataset is complete that takes its place. files: those of the new one.
  void tidy(const PackageHead& newest, const std::vector<std::string>& files);
  /// Has the next job begin with the newest dataset.
  void free_current();
  /// Has it do so when the flush in the background has succeeded.
  void free_current_later() { frees_current_ = true; }
  void free_current_if_due() {
    if (std::exchange(frees_current_, false)) free_current();
  }
  /// Notes that the user has chosen a dataset for the next job.
  void note_choice() { is_current_free_ = frees_current_ = false; }

 private:
  /// Returns whether the store and the list do not have it any more.
  bool remove(const IndexEntry& entry, bool files_stay) const;
  [[nodiscard]] bool remove_all() const;
  /// Removes files that no entry of the list has, beside that of a dataset that goes. gone: its name, or empty. Returns whether they are gone.
  [[nodiscard]] bool remove_files(const std::string& gone, const std::vector<std::string>& files) const;
  /// Removes what the dataset of before had under this name.
  void end_replaced(const PackageHead& newest, const std::vector<std::string>& files) const;
  void prune(const PackageHead& newest) const;

  Job& job_;
  std::set<std::string> replaced_;  ///< names that had another dataset before; known to rank 0
  bool is_current_free_ = false;    ///< the next job begins with the newest dataset
  bool frees_current_ = false;      ///< so it will be when the flush in the background has succeeded
};

}  // namespace scr_impl
