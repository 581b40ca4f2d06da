// SPDX-License-Identifier: BSD-3-Clause
// Calls whose outcome is not determined, where messages are logged: a replacement has the outcomes of its predecessor.
#pragma once

#include <mpi.h>
#include <sched.h>

#include "mpi/persistent.hpp"

namespace fenix_impl {

constexpr int kFreeOutcome = PersistServices::kFree;

/// Asks which outcome a call must have, as PersistServices::next_decision says.
inline int next_decision(Decision call, bool may_be_negative, int room, int* count, int* outcome) {
  return call_libfenix([&](const PersistServices& libfenix) {
    return libfenix.next_decision(call, may_be_negative, room, count, outcome);
  });
}

/// Notes the outcome of a call.
inline void note_decision(Decision call, int count, const int* outcome) {
  (void)call_libfenix([&](const PersistServices& libfenix) { return libfenix.note_decision(call, count, outcome); });
}

/// Called while something has not come yet. Looks at failures, and at a deadline if since is the time when the wait began. Returns an error.
inline int pause_wait(double since) {
  sched_yield();
  return call_libfenix([&](const PersistServices& libfenix) { return libfenix.check_wait(since); });
}

}  // namespace fenix_impl
