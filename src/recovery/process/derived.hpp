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

/// Gives all communicators of this process that have one error handler another one. Local.
void replace_handler(MPI_Errhandler from, MPI_Errhandler to);

/// Whether all processes of a communicator, of both sides if it has two, are in another one. Local.
[[nodiscard]] bool has_only_processes_of(MPI_Comm comm, MPI_Comm whole);

/// Notes the communicators that the program has before it begins to use Fenix: they and their duplicates are not derived. Local.
void note_outsiders();

/// Revokes the communicators that the program has derived from the resilient one. This frees ranks that wait in a call on one of them for a
/// rank that has left for the repair. They have inherited the given handler. mpi4py and HDF5 set MPI_ERRORS_RETURN in its place: a
/// communicator with that counts, if it was made since note_outsiders() and all its processes are in the resilient one. Local.
void revoke_derived(MPI_Errhandler inherited, MPI_Comm resilient);

}  // namespace fenix_impl
