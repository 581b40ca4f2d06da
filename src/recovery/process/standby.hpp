// SPDX-License-Identifier: BSD-3-Clause
// The wait of a spare: until it becomes active, or until the active ranks release it.
#pragma once

#include "recovery/process/communicators.hpp"
#include "recovery/process/membership.hpp"
#include "recovery/process/repair.hpp"
#include "rma/silence_watch.hpp"

namespace fenix_impl {

class Standby {
 public:
  /// All must outlive it.
  Standby(Communicators& comms, Membership& members, Repair& repair, SilenceWatch& watch)
      : comms_(comms), members_(members), repair_(repair), watch_(watch) {}

  /// Waits in a spare. Returns true when this process has become active, false when all active ranks have finished.
  /// repairs: whether deaths are repaired; if not, the spares repair only when no active rank is left.
  bool wait(unsigned wait_mode, bool repairs);
  /// Tells all spares, in an active rank, that those want to finish. If this rank dies before it has told all, they notice, and all repair
  /// instead of finishing.
  void release_all();

 private:
  [[nodiscard]] bool told_to_finish();
  [[nodiscard]] bool needs_spare(bool repairs);
  [[nodiscard]] bool world_revoked();

  Communicators& comms_;
  Membership& members_;
  Repair& repair_;
  SilenceWatch& watch_;
};

}  // namespace fenix_impl
