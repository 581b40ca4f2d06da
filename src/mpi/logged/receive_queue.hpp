// SPDX-License-Identifier: BSD-3-Clause
// Receives of a program whose messages are logged, in the order in which they have begun. Those with wildcards are never given to MPI:
// messages are matched here, so that it is known which one a receive has got.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "mpi/base/message_calls.hpp"

namespace fenix_impl {

/// Whether receives have begun that have no message yet: with a wildcard, or behind one.
bool has_unmatched_receives();
/// Waits until a request from before a repair does not write any more. Its message is in a log, or has not been sent.
void drain(MPI_Request* inner);
/// Lets MPI know of all receives that have begun, in their order.
void begin_earlier_receives();
/// Lets MPI know of a new receive, and of those before it. A message for one with a wildcard goes to an earlier one that suits: so these need no
/// looks before.
void begin_after_earlier_ones(MPI_Request request);
/// The same for a new receive that MPI may know already.
void begin_with_earlier_ones();
/// Looks for the messages of all receives that have begun.
void look_for_all_receives();
/// Looks for those for which the program has no request any more.
void look_for_freed_receives();
/// Looks for the message of one receive. A repair takes all receives away from MPI, and they have to come back in their order.
void look_for_receive_in_turn(MPI_Request request);
/// Whether receives have begun that MPI does not know yet.
bool receives_need_progress();
/// Whether a message is for a receive that has begun.
bool is_for_begun_receive(MPI_Comm comm, int source, int tag);
/// Notes what is known of a receive. inner: of MPI. repairs: before it was made.
void update_receive(MPI_Request request, const LoggedReceive& receive, MPI_Request inner, unsigned repairs);
/// Notes which message a receive has got. receive: its number among those of the program. Returns an error of MPI.
int note_match(std::uint64_t receive, int source, int tag);
/// Called after a look that has found nothing. Probes do not tell of all failures, and on a revoked communicator they make no progress.
/// Returns an error if there was one, and calls that it cuts short end with it.
int note_look_in_vain(bool has_failed);

}  // namespace fenix_impl
