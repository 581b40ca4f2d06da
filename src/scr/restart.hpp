// SPDX-License-Identifier: BSD-3-Clause
// The checkpoint that the program goes on from: the search for it, and its files.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "scr/cache.hpp"
#include "scr/catalog.hpp"
#include "scr/flushes.hpp"
#include "scr/job.hpp"
#include "scr/package.hpp"
#include "scr/snapshots.hpp"

namespace scr_impl {

/// All that returns bool returns whether it succeeded.
class Restart {
 public:
  Restart(Job& job, Cache& cache, Catalog& catalog, Flushes& flushes, Snapshots& snapshots)
      : job_(job), cache_(cache), catalog_(catalog), flushes_(flushes), snapshots_(snapshots) {}

  /// Returns the checkpoint that was found, or none.
  [[nodiscard]] const std::optional<PackageHead>& head() const { return head_; }
  /// Has the checkpoint searched for once more.
  void search_anew();
  /// Ends a use of SCR.
  void clear();
  /// Lets datasets before the newest one count again: whether one is good is looked at once more.
  void allow_older() { older_than_ = UINT64_MAX; }

  /// Looks for the checkpoint, unless that has been done. Fails if the store does not answer: then the next call looks once more. Collective.
  bool find();
  enum class Choice { made, missing, unknown };
  /// Makes a dataset the one to go on from, and that of the next job as well, until a newer one is flushed. unknown: the store does not answer.
  /// Collective.
  Choice choose(const std::string& name);
  /// Puts the files of the checkpoint into the cache. Collective.
  bool open(const PackageHead& head);
  /// Returns the path of a file of the checkpoint that is open, or nothing.
  [[nodiscard]] std::string path_of(const std::string& name) const;
  /// Ends the restart. is_valid: all ranks could use the checkpoint. Collective.
  bool complete(bool is_valid);

 private:
  /// Finds the checkpoint, or that there is none.
  bool search();
  bool apply_current();
  /// Makes a checkpoint that of the next job. On rank 0. stored, entry: the name and entry of the one that was found.
  Choice make_current(const std::string& name, std::string& stored, IndexEntry& entry) const;
  /// Rank 0 drops the datasets after a chosen one. id: its number, or 0 if that is not known.
  void drop_after(const std::string& name, std::uint64_t id) const;
  /// missing: the store has no such dataset that is whole.
  Choice fetch(const std::string& stored);
  /// Looks whether all ranks can use a snapshot that the group has: the latest one that they can.
  bool examine_memory();
  bool examine(int time_stamp);
  bool examine_files(const PackageHead& head, int time_stamp);
  /// Tells whether the list of datasets says that no job begins with it. Rank 0 knows.
  [[nodiscard]] bool is_withdrawn(const PackageHead& head) const;
  /// Rank 0 notes that no job begins with it.
  void withdraw(const PackageHead& head) const;
  /// Returns the name of the next dataset to try, an empty one if there is none, or nothing if the store does not answer.
  [[nodiscard]] std::optional<std::string> next_older();

  Job& job_;
  Cache& cache_;
  Catalog& catalog_;
  Flushes& flushes_;
  Snapshots& snapshots_;
  bool is_searched_ = false;  ///< whether there is a checkpoint to go on from is known
  std::optional<PackageHead> head_;
  int time_stamp_ = -1;             ///< of the snapshot that has it
  std::vector<ListedFile> listed_;  ///< files of the checkpoint in their own places
  std::string chosen_;              ///< the dataset that SCR_Current has chosen
  std::set<std::pair<std::uint64_t, std::uint64_t>>
      refused_;                            ///< numbers and times of those that the program could not use
  std::set<std::string> tried_;            ///< datasets of the store that were fetched; known to rank 0
  std::uint64_t older_than_ = UINT64_MAX;  ///< datasets with this number and larger ones are no choice
};

}  // namespace scr_impl
