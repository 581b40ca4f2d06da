// SPDX-License-Identifier: BSD-3-Clause
// How calls of the program that are under way go on.
#pragma once

#include <mpi.h>

#include "interposition/collective.hpp"

namespace fenix_impl {

/// Whether the program must not be kept in MPI: collective operations or receives that it has begun need this library to go on.
bool calls_need_progress();
/// Lets them go on as far as is possible without a wait. Returns whether they still need it.
bool progress_logged_calls();
/// Waits for a request of MPI. Other calls of the program go on meanwhile: another rank may wait for them. Returns an error of MPI.
int wait_and_go_on(MPI_Request* request);
/// Looks for the messages of all receives that have begun: after a failure, MPI has to know them in the order in which they have begun.
void look_for_earlier_receives();
/// Looks for the message of one receive. MPI has to know those that have begun before: progress_logged_calls(), and after a repair this.
void look_for_receive(MPI_Request request);
/// Cancels a receive, if it has no message yet.
int cancel_logged_receive(MPI_Request request);
/// Does an operation. Returns an error of MPI, after the error handler.
int run_logged_collective(const Collective& call);

}  // namespace fenix_impl
