// SPDX-License-Identifier: BSD-3-Clause
// Requests and messages of the program that it has not completed.
#pragma once

#include <mpi.h>

namespace fenix_impl {

/// Forgets logged receives and collective operations that are under way.
void forget_logged_calls();
/// Whether there are some that the program has not completed.
bool has_open_calls();
/// Whether the program has requests of a communicator, or messages of matched probes.
bool has_open_calls_on(MPI_Comm comm);
/// Returns a request of a receive on a communicator that the program has freed before its message came, or MPI_REQUEST_NULL.
MPI_Request freed_receive_on(MPI_Comm comm);

}  // namespace fenix_impl
