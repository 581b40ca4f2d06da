// SPDX-License-Identifier: BSD-3-Clause
// Handlers for errors that the program sets. They are kept beside that of libfenix, which has to be the one that MPI calls.
#pragma once

#include "mpi/base/derived.hpp"

namespace fenix_impl {

/// Gives a communicator of MPI the handler that another one has in MPI. Local.
void share_handler(MPI_Comm from, MPI_Comm to);
/// Sets the handler of the program, in the place of the one before. Returns the error of MPI.
int keep_handler(Derived& derived, MPI_Errhandler handler);
/// Gives a new communicator the handler of its parent.
void inherit_handler(const Derived& parent, Derived& child);
/// Calls the handler of the program for an error on the communicator that does the work of one of its names. Returns false if it has
/// set none.
bool call_kept_handler(MPI_Comm working, int mpi_error);
/// Records for Fenix_Error_message why a call is refused, calls the handler of a communicator, and returns the error. comm may be
/// MPI_COMM_NULL.
int refuse_call(MPI_Comm comm, int mpi_error, const char* why);

}  // namespace fenix_impl
