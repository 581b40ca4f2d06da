// SPDX-License-Identifier: BSD-3-Clause
// Receives of a program whose messages are logged, in the order in which they have begun. Those with wildcards are never given to MPI:
// messages are matched here, so that it is known which one a receive has got.
#pragma once

#include <mpi.h>

#include "mpi/logged.hpp"
#include "mpi/stand_ins.hpp"

namespace fenix_impl {

inline bool is_wildcard(int source, int tag) { return source == MPI_ANY_SOURCE || tag == MPI_ANY_TAG; }
inline bool is_wildcard(const LoggedReceive& receive) { return is_wildcard(receive.source, receive.tag); }

/// Whether a receive gets its message after another one, from the same source with the same tag.
inline bool is_later(const LoggedReceive& receive, const LoggedReceive& other) {
  return receive.comm == other.comm && receive.source == other.source && receive.tag == other.tag &&
         receive.number > other.number;
}
/// Whether receives have begun that have no message yet: with a wildcard, or behind one.
bool has_unmatched_receives();
/// Begins a receive of the program that it can cancel, or that has a wildcard.
int start_program_receive(const LoggedReceive& receive, MPI_Request* request);
/// Makes a request that begins such a receive each time when it is started.
int init_logged_receive(const LoggedReceive& receive, MPI_Request* request);
/// Begins the receive of a request.
int begin_logged_receive(MPI_Request request);
/// Receives a message behind the receives that have begun before.
int receive_in_turn(const LoggedReceive& receive, MPI_Status* status);
/// Cancels a receive, if it has no message yet.
int cancel_logged_receive(MPI_Request request);
/// Gives the number of a cancelled receive to the next one from the same source with the same tag.
void give_number_back(const LoggedReceive& cancelled);
/// Begins a receive whose message MPI has given to a matched probe. inner: the request of MPI. repairs: before it was made.
int start_probed_receive(const LoggedReceive& receive, MPI_Request inner, unsigned repairs, MPI_Request* request);

/// Looks for a message that a probe of the program gets, behind the receives that have begun. is_in_log: it is not from MPI.
int find_message(int source, int tag, MPI_Comm comm, int* flag, bool* is_in_log, MPI_Status* status);

/// Waits until a request from before a repair does not write any more. Its message is in a log, or has not been sent.
void drain(MPI_Request* inner);
/// Lets MPI know of all receives that have begun, in their order.
void begin_earlier_receives();
/// Whether the program must not be kept in MPI: collective operations or receives that it has begun need this library to go on.
bool calls_need_progress();
/// Lets them go on as far as is possible without a wait. Returns whether they still need it.
bool progress_logged_calls();
/// Gives a message that MPI had given to a matched probe, and that is for a receive of the library itself. False if there is none.
bool take_stashed(MPI_Comm comm, int source, int tag, MPI_Message* message);

}  // namespace fenix_impl
