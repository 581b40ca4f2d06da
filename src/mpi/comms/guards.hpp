// SPDX-License-Identifier: BSD-3-Clause
// Windows and files that the program has made on the resilient communicator, or on derived ones. Open MPI does not make them fault
// tolerant: some calls wait for a dead rank without an end, and others end the process. Here they get errors instead, if the death
// is known.
#pragma once

#include <mpi.h>

namespace fenix_impl {

/// Returns MPI_SUCCESS, or the error of a call on a window: MPIX_ERR_REVOKED if a repair has replaced its communicator,
/// MPIX_ERR_PROC_FAILED if a member has died since. The latter comes after the repair. Local.
int check_window(MPI_Win win);

/// The same for a call that is collective over a file. Collective over the file, if that is undamaged.
int check_file(MPI_File file);

}  // namespace fenix_impl
