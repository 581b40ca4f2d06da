// SPDX-License-Identifier: BSD-3-Clause
// Calls whose outcome is not determined, where messages are logged: a replacement has the outcomes of its predecessor.
#pragma once

#include <mpi.h>
#include <sched.h>

#include "mpi/base/log_scope.hpp"

namespace fenix_impl {

constexpr int kFreeOutcome = PersistServices::kFree;

/// Asks which outcome a call must have, as PersistServices::next_determinant says.
inline int next_determinant(DeterminantKind call, bool may_be_negative, int room, int* count, int* outcome) {
  return call_libfenix([&](const PersistServices& libfenix) {
    return libfenix.next_determinant(call, may_be_negative, room, count, outcome);
  });
}

/// Notes the outcome of a call.
inline void note_determinant(DeterminantKind call, int count, const int* outcome) {
  (void)call_libfenix([&](const PersistServices& libfenix) { return libfenix.note_determinant(call, count, outcome); });
}

/// Looks at failures while something has not come, and at a deadline if since is the time when the wait began. Returns an error.
inline int look_at_wait(double since) {
  const RepeatableCall call;
  int error = MPI_SUCCESS;
  do {
    error = persist_services()->check_wait(since);
  } while (tells_of_failure(error) && repeats_calls());
  return error;
}

/// Says whether a wait for what the predecessor of this process has found ends after FENIX_TIMEOUT. Where the program knows nothing of Fenix,
/// it does not: others may still be doing again what they had done, and their deaths are noticed.
inline bool forced_waits_end() { return !is_transparent.load(std::memory_order_acquire); }

/// Called while something has not come yet.
inline int pause_wait(double since) {
  sched_yield();
  return look_at_wait(since);
}

}  // namespace fenix_impl
