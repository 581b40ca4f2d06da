// SPDX-License-Identifier: BSD-3-Clause
// The checkpoints of this job that are in memory, and the way of the latest one to the store.
#pragma once

#include <fenix.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scr/catalog.hpp"
#include "scr/job.hpp"
#include "scr/package.hpp"

namespace scr_impl {

/// A checkpoint that this job has committed.
struct Kept {
  PackageHead head;
  std::vector<std::string> files;  ///< those below the prefix folder; known to rank 0
  int time_stamp = -1;
  bool is_flushed = false;
};

class Flushes {
 public:
  Flushes(Job& job, Catalog& catalog) : job_(job), catalog_(catalog) {}

  /// Takes a new checkpoint.
  void keep(Kept kept);
  /// Tells whether there is a checkpoint: the latest one that was neither removed nor refused.
  [[nodiscard]] bool has_kept() const { return !kept_.empty(); }
  /// Tells whether it still has to be flushed.
  [[nodiscard]] bool is_unflushed() const { return has_kept() && !kept_.back().is_flushed; }
  /// Has those that are there not flushed any more.
  void want_none();
  /// Forgets them: they are not in memory any more.
  void forget_kept() { kept_.clear(); }
  /// Forgets one that the program could not use. The one before it takes its place.
  void forget_refused(const PackageHead& head);
  [[nodiscard]] bool is_in_background() const { return flushing_.has_value(); }
  /// Tells on this rank whether what is flushed in the background has an end: it is in the store, or has failed.
  [[nodiscard]] bool has_ended() const;
  /// Forgets all, after a repair.
  void forget();

  // Collective. They return whether they succeeded.

  /// Flushes the latest checkpoint if it is its turn.
  bool flush_if_due();
  bool flush(bool in_background);
  bool end_background();
  /// Forgets a checkpoint of this name, which is removed.
  void give_up(const std::string& name);

 private:
  Job& job_;
  Catalog& catalog_;
  std::vector<Kept> kept_;        ///< in the order in which they were committed
  std::optional<Kept> flushing_;  ///< the one that is flushed in the background
  Fenix_Request request_ = FENIX_REQUEST_NULL;
};

}  // namespace scr_impl
