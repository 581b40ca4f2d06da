// SPDX-License-Identifier: BSD-3-Clause
// Waiting for what peers write into this rank's memory.
#pragma once

#include <sched.h>

#include "base/deadline.hpp"
#include "rma/team.hpp"

namespace fenix_impl {

/// Returns when ready() is true. Throws as Team::check and Deadline::check do.
template <class Ready>
void wait_until(Team& team, const char* waited_for, Ready&& ready) {
  constexpr int kPollsBetweenChecks = 16;
  const Deadline deadline;
  for (int polls = 1; !ready(); ++polls) {
    if (polls % kPollsBetweenChecks == 0) {
      team.check();
      deadline.check(waited_for);
      // There may be more ranks than cores, and the one that is waited for may need this core.
      sched_yield();
    }
  }
}

}  // namespace fenix_impl
