// SPDX-License-Identifier: BSD-3-Clause
// Objects that are in no log and that no repair makes anew: windows, files of several ranks, intercommunicators, new processes. In a program
// without calls of Fenix the call that makes it is refused on all ranks, unless FENIX_UNLOGGED is "allow". Then a death after it ends the
// job: a new process would wait in that call for ranks that have done it.
#pragma once

#include <mpi.h>

namespace fenix_impl {

/// Whether calls on a communicator that make such an object are refused. A wrong communicator is left to MPI.
bool refuses_unlogged(MPI_Comm comm);
/// Refuses a call of a program without calls of Fenix, as refuse_call() does, and prints why: once for each function.
int refuse_aloud(MPI_Comm comm, int mpi_error, const char* call, const char* why);
/// Refuses such a call, and says why. Returns the error, after the handler of comm. call: name of the function.
int refuse_unlogged(MPI_Comm comm, const char* call);

/// Returns MPI_COMM_SELF for a communicator of this process alone in a program without calls of Fenix: what is made on it needs no other
/// rank, and no repair. Otherwise MPI_COMM_NULL.
MPI_Comm alone_on(MPI_Comm comm);

/// Notes that such a call is allowed, and begins. Does nothing in a program that calls Fenix. call: a literal.
void note_unlogged(const char* call);
/// Whether there was one.
bool has_unlogged_calls();
/// Ends the job if there was one. Called after a failure.
void end_job_with_unlogged_calls();

/// Whether a buffer is in the memory of a device, which logs cannot copy.
bool is_on_device(const void* buffer);
/// Refuses a call with such a buffer.
int refuse_device(MPI_Comm comm, const char* call);

}  // namespace fenix_impl
