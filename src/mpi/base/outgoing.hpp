// SPDX-License-Identifier: BSD-3-Clause
// Messages that are on their way, with copies of their bytes: the program may use its buffers again, as the log has the messages.
#pragma once

#include <mpi.h>

#include <cstddef>

#include "interposition/message_calls.hpp"

namespace fenix_impl {

/// Messages with so many bytes are sent from where they are, if that is possible.
constexpr std::size_t kLargeBytes = std::size_t{32} << 10;

/// Forgets copies of messages that have arrived.
void forget_those_that_have_arrived();
/// Begins to send a copy of a message. Returns an error of MPI.
int start_copy(const Packed& packed, int dest, int tag, MPI_Comm comm);
/// Waits until MPI has sent all copies. Local.
void complete_copies();
/// Sends a message by start_what_waits(), unless there is a repair before.
void send_later(MPI_Comm comm, int dest, int tag, const void* content, std::size_t bytes);
[[nodiscard]] bool has_messages_for_later();
void start_what_waits();

}  // namespace fenix_impl
