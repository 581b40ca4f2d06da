// SPDX-License-Identifier: BSD-3-Clause
// Messages that MPI had given to a matched probe, and that are for the library itself.
#pragma once

#include <mpi.h>

namespace fenix_impl {

/// Keeps a message. It is the next one of its source with its tag.
void keep_in_stash(MPI_Comm comm, int source, int tag, MPI_Message message);
/// Takes the next message of a source with its tag from MPI, and keeps it. Returns an error of MPI.
int put_aside(MPI_Comm comm, int source, int tag);
/// Gives a message that MPI had given to a matched probe, and that is for a receive of the library itself. False if there is none.
bool take_stashed(MPI_Comm comm, int source, int tag, MPI_Message* message);

}  // namespace fenix_impl
