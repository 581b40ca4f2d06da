// SPDX-License-Identifier: BSD-3-Clause
// The functions of libfenix that the program's messages are given to.
#pragma once

#include <atomic>
#include <mpi.h>

#include "interposition/interposer.hpp"

namespace fenix_impl {

/// Whether messages on all communicators are logged, or counted for checkpoints.
[[gnu::visibility("hidden")]] extern std::atomic<bool> logs_messages;

/// Whether the program knows nothing of Fenix: from MPI_Init to MPI_Finalize, if FENIX_SPARES is set.
[[gnu::visibility("hidden")]] extern std::atomic<bool> is_transparent;

/// Returns the functions of libfenix, or null if Fenix has not begun.
const PersistServices* persist_services();
inline const PersistServices& libfenix() { return *persist_services(); }
/// Has these functions used instead, and messages on all communicators given to them. Null: no more.
void count_messages(const PersistServices* services);

/// Ends the use of functions for counts: messages are logged.
void use_services_of_logs();
/// Changes when other functions of libfenix are called, or messages on other communicators are logged.
[[nodiscard]] unsigned services_generation();
void change_services_generation();

/// Whether an error of MPI tells of a death, or of a repair.
bool tells_of_failure(int error);

/// Calls libfenix, and once more if a failure has cut it short and the program is to know nothing of it. call: returns an error of MPI.
template <class Call>
int call_libfenix(const Call& call) {
  int error = MPI_SUCCESS;
  do {
    error = call(*persist_services());
  } while (tells_of_failure(error) && is_transparent.load(std::memory_order_acquire));
  return error;
}

/// Calls the error handler of a communicator, unless the error tells of a failure, which has been dealt with. Returns the error.
int raise_on(MPI_Comm comm, int error);

}  // namespace fenix_impl
