// SPDX-License-Identifier: BSD-3-Clause
// Waiting until peers have written something into this rank's memory.
#pragma once

#include "base/backoff.hpp"
#include "base/deadline.hpp"
#include "base/error.hpp"
#include "rma/team.hpp"

namespace fenix_impl {

/// Returns when ready() is true. Throws as Team::check and Deadline::check do. Does not throw if ready() has become
/// true in the meantime: the writes of a peer before its death count.
template <class Ready>
void wait_until(Team& team, const char* waited_for, Ready&& ready) {
  // Most waits end within the first polls; one look at the clock takes as long as several of them.
  constexpr int kPollsWithoutChecks = 64;
  for (int polls = 0; polls < kPollsWithoutChecks; ++polls) {
    if (ready()) return;
  }
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
