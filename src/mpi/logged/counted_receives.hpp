// SPDX-License-Identifier: BSD-3-Clause
// Receives of a program whose messages are only counted, with a named source and a named tag. The program has MPI's own requests: they need no
// stand-ins, as no checkpoint begins before they are complete.
#pragma once

#include <mpi.h>

#include "mpi/base/message_calls.hpp"

namespace fenix_impl {

/// Begins a receive if nothing but counting is to be done for it. Returns false if libfenix has to do more. error: of MPI.
bool begin_counted_receive(const LoggedReceive& receive, MPI_Request* request, int* error);
/// Whether there are some that the program has not completed.
bool has_counted_receives();
bool uses_type_in_counted_receives(MPI_Datatype type);
bool is_counted_receive(MPI_Request request);
/// Asks MPI to cancel one. The program completes it all the same. Returns an error of MPI.
int cancel_counted_receive(MPI_Request* request);
/// Gives the number of a cancelled receive to the next one from the same source with the same tag.
void give_number_back(const LoggedReceive& cancelled);
/// Lowers the numbers of those behind a cancelled receive.
void lower_numbers_behind(const LoggedReceive& cancelled);
/// Forgets a receive: its request is complete, or the program frees it. Does nothing with other requests.
void forget_counted_receive(MPI_Request request);
void forget_counted_receives();
/// Forgets those of some requests that a call has completed. before: their handles before the call.
void forget_completed_receives(int count, const MPI_Request* before, const MPI_Request* now);

}  // namespace fenix_impl
