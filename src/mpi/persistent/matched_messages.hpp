// SPDX-License-Identifier: BSD-3-Clause
// Messages that were stored, and that a probe has matched for MPI_Mrecv.
#pragma once

#include <mpi.h>

namespace fenix_impl {

/// Matches a message that was stored, for MPI_Mrecv. flag: whether there is one.
int match_stored(int source, int tag, MPI_Comm comm, bool waits, int* flag, MPI_Message* message, MPI_Status* status);

}  // namespace fenix_impl
