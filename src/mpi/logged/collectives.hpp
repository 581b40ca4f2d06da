// SPDX-License-Identifier: BSD-3-Clause
// Collective functions where messages are logged. They are made of messages that are logged: so a replacement gets from the logs what it
// needs, and a rank in the middle of an operation goes on after a failure. The functions themselves are generated.
#pragma once

#include <mpi.h>

#include "interposition/collective.hpp"
#include "mpi/base/handles.hpp"
#include "mpi/base/real.hpp"

namespace fenix_impl {

/// Does an operation. meanwhile: called while it waits. Returns an error of MPI, after the error handler.
int run_collective(const Collective& call, void (*meanwhile)());
/// Begins an operation. request: complete when the operation is.
int start_logged_collective(const Collective& call, MPI_Request* request);
/// Makes a request that has the operation done each time when it is started. Arrays stay the program's, as MPI says.
int init_logged_collective(const Collective& call, MPI_Request* request);
/// Begins the operation of such a request.
int restart_logged_collective(const Collective& call, MPI_Request request);
/// Forgets the operations that are under way.
void forget_logged_collectives();
/// Lets the operations that are under way make progress.
void progress_logged_collectives();
/// Whether there are some.
bool has_logged_collectives();

}  // namespace fenix_impl
