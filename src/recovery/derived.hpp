// SPDX-License-Identifier: BSD-3-Clause
// Communicators that the application derived from the resilient one.
#pragma once

#include <mpi.h>

#include <functional>

namespace fenix_impl {

/// Calls visit for all communicators of this process except MPI_COMM_WORLD and MPI_COMM_SELF. It may free them. Local.
void for_each_communicator(const std::function<void(MPI_Comm)>& visit);

/// Whether a communicator has an error handler. Local.
[[nodiscard]] bool has_handler(MPI_Comm comm, MPI_Errhandler wanted);

/// Revokes all communicators of this process that have the given error handler: they have inherited it. This frees
/// ranks that wait in a call on one of them for a rank that has left for the repair. Local.
void revoke_derived(MPI_Errhandler inherited);

}  // namespace fenix_impl
