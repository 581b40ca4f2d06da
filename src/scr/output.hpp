// SPDX-License-Identifier: BSD-3-Clause
// The dataset that the program writes: an output, a checkpoint, or both.
#pragma once

#include <string>
#include <vector>

#include "scr/cache.hpp"
#include "scr/catalog.hpp"
#include "scr/flushes.hpp"
#include "scr/job.hpp"
#include "scr/package.hpp"
#include "scr/restart.hpp"
#include "scr/snapshots.hpp"

namespace scr_impl {

/// Collective. All that returns bool returns whether it succeeded.
class Output {
 public:
  Output(Job& job, Cache& cache, Catalog& catalog, Flushes& flushes, Snapshots& snapshots, Restart& restart)
      : job_(job), cache_(cache), catalog_(catalog), flushes_(flushes), snapshots_(snapshots), restart_(restart) {}

  [[nodiscard]] const PackageHead& head() const { return head_; }
  /// Agrees on the name and the numbers of a new dataset.
  bool begin(const std::string& name, int flags);
  /// Puts the files where they belong, and a checkpoint into memory.
  bool complete(const SharedFiles& shared);
  /// Forgets the list of files.
  void forget_files() { in_place_.clear(); }

 private:
  bool put_in_place(const SharedFiles& shared);
  bool put_copies(const SharedFiles& shared);
  bool keep(const SharedFiles& shared);
  /// Has an output take the place of what had its name before, a checkpoint as well.
  bool replace(const SharedFiles& shared);

  Job& job_;
  Cache& cache_;
  Catalog& catalog_;
  Flushes& flushes_;
  Snapshots& snapshots_;
  Restart& restart_;
  PackageHead head_;
  std::vector<ListedFile> in_place_;  ///< files in their own places
};

}  // namespace scr_impl
