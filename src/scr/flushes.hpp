// SPDX-License-Identifier: BSD-3-Clause
// The latest checkpoint of this job, and its way to the store.
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

  /// Returns the latest checkpoint, or none.
  [[nodiscard]] std::optional<Kept>& kept() { return kept_; }
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
  std::optional<Kept> kept_;
  std::optional<Kept> flushing_;  ///< the one that is flushed in the background
  Fenix_Request request_ = FENIX_REQUEST_NULL;
};

}  // namespace scr_impl
