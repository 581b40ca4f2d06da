// SPDX-License-Identifier: BSD-3-Clause
// Requests of persistent communicators.
#pragma once

#include <mpi.h>

#include "mpi/base/message_calls.hpp"
#include "mpi/base/stand_in_table.hpp"

namespace fenix_impl {

/// Begins a receive, as MPI_Irecv and MPI_Recv_init do. Returns an error of MPI, after the error handler.
int start_receive(const ReceiveCall& receive, MPI_Request* request);
int init_receive(const ReceiveCall& receive, MPI_Request* request);
/// Has a message stored each time when a persistent request is started.
void add_send_stand_in(MPI_Request request, const SendCall& send);
/// Makes a request of a collective operation that is complete.
int add_done_collective(MPI_Request* request);
/// Makes a request that has a collective operation done each time when it is started. Arrays stay the program's, as MPI says.
int init_collective(const Collective& call, InitFunction* init, MPI_Info info, MPI_Request* request);
/// Looks whether a message that a stand-in waits for is stored, or waits until it is.
void look_for_stored(MPI_Request request, bool waits);

}  // namespace fenix_impl
