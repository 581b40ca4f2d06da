// SPDX-License-Identifier: BSD-3-Clause
// Calls of the program for messages, as they are kept until they are complete.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "interposition/message_calls.hpp"

namespace fenix_impl {

/// A receive on an ordinary communicator, with the number of its message.
struct LoggedReceive : ReceiveCall {
  std::uint64_t number = 0;  ///< 0 as long as it is not known which message it gets
  std::uint64_t receive =
      0;                    ///< number among the receives of the program that can be cancelled or have a wildcard; or 0
  bool is_logged = true;    ///< its message may be in a log
  unsigned repairs = 0;     ///< so many there had been when it got its number
  bool was_probed = false;  ///< MPI has given its message to a matched probe
  bool will_be_cancelled = false;
};

inline bool is_wildcard(int source, int tag) { return source == MPI_ANY_SOURCE || tag == MPI_ANY_TAG; }
inline bool is_wildcard(const LoggedReceive& receive) { return is_wildcard(receive.source, receive.tag); }

/// Whether a receive gets its message after another one, from the same source with the same tag.
inline bool is_later(const LoggedReceive& receive, const LoggedReceive& other) {
  return receive.comm == other.comm && receive.source == other.source && receive.tag == other.tag &&
         receive.number > other.number;
}

using StartFunction = int (*)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

struct Send : SendCall {
  StartFunction start = nullptr;  ///< of MPI; null: the message is copied in the call
};

/// A send that has begun.
struct Started {
  MPI_Request inner = MPI_REQUEST_NULL;  ///< of MPI; null: MPI does not send it any more
  std::uint64_t number = 0;              ///< of a synchronous message in the log; otherwise 0
};

/// Whether the program need not wait for the send.
inline bool has_ended(const Started& started) { return started.inner == MPI_REQUEST_NULL && started.number == 0; }

}  // namespace fenix_impl
