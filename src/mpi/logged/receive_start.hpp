// SPDX-License-Identifier: BSD-3-Clause
// How receives of a program whose messages are logged begin.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "mpi/base/message_calls.hpp"

namespace fenix_impl {

/// Begins a receive of the program that it can cancel, or that has a wildcard.
int start_program_receive(const LoggedReceive& receive, MPI_Request* request);
/// Makes a request that begins such a receive each time when it is started.
int init_logged_receive(const LoggedReceive& receive, MPI_Request* request);
/// Begins the receive of a request.
int begin_logged_receive(MPI_Request request);
/// Begins a receive whose message MPI has given to a matched probe. inner: the request of MPI. repairs: before it was made.
int start_probed_receive(const LoggedReceive& receive, MPI_Request inner, unsigned repairs, MPI_Request* request);
/// Begins a receive whose message may come from a log. If it has no number, it gets one in its turn.
int start_logged_receive(const LoggedReceive& receive, MPI_Request* request);
/// Returns the place of a receive that begins now among all receives.
std::uint64_t next_order_of_receives();

}  // namespace fenix_impl
