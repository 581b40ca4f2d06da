// SPDX-License-Identifier: BSD-3-Clause
// How the program's calls wait for stand-ins.
#pragma once

#include <mpi.h>

namespace fenix_impl {

/// Looks whether the message of a stand-in is there.
void look_for(MPI_Request request);
/// Waits for the message of a stand-in, with looks at failures and a deadline.
void wait_for(MPI_Request request);

}  // namespace fenix_impl
