// SPDX-License-Identifier: BSD-3-Clause
// Waiting for what peers write into this rank's memory.
#pragma once

#include "base/backoff.hpp"
#include "base/deadline.hpp"
#include "base/error.hpp"
#include "rma/team.hpp"

namespace fenix_impl {

/// Returns when ready() is true. Throws as Team::check and Deadline::check do, but not if ready() has come true meanwhile:
/// what a peer did before it died counts.
template <class Ready>
void wait_until(Team& team, const char* waited_for, Ready&& ready) {
  constexpr int kPollsBetweenChecks = 16;
  const Deadline deadline;
  const Backoff backoff;
  for (int polls = 1; !ready(); ++polls) {
    if (polls % kPollsBetweenChecks == 0) {
      try {
        team.check();
      } catch (const PeerFailure&) {
        if (ready()) return;
        throw;
      }
      deadline.check(waited_for);
      backoff.pause();
    }
  }
}

}  // namespace fenix_impl
