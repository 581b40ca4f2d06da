// SPDX-License-Identifier: BSD-3-Clause
// The steps of a receive whose message may be in a log.
#pragma once

#include <cstdint>
#include <mpi.h>

#include "mpi/base/message_calls.hpp"

namespace fenix_impl {

/// Looks whether its message is there, in a log or from MPI. inner: the request of MPI, made here if need be. Goes on after a failure.
/// only_begins: does not look again when the request is made.
int look_for_logged(const LoggedReceive& receive, MPI_Request* inner, bool only_begins, int* flag, MPI_Status* status);
/// Gives a receive whose source and tag are known the number of its message.
int begin_receive(LoggedReceive* receive);
/// Notes that a receive has its message. status: of MPI, or null if it is the count of something else.
void end_receive(const LoggedReceive& receive, const MPI_Status* status);
/// Takes back the latest number of a message: its receive is cancelled, or the program may call again what a failure has cut short.
/// is_sent: otherwise received.
void take_back(bool is_sent, int peer, int tag, MPI_Comm comm);

/// Notes that a message is there, before the outcome that comes from it. number: of its receive, or 0.
void note_found(int source, int tag, MPI_Comm comm, std::uint64_t number);
/// Looks for a message in a log that no receive has got. source and tag may be wildcards. Goes on after a failure.
int find_logged(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status);
/// Receives a message from the log if it is to come from there. Goes on after a failure.
int receive_from_log(const LoggedReceive& receive, int* flag, MPI_Status* status);

}  // namespace fenix_impl
