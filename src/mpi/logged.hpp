// SPDX-License-Identifier: BSD-3-Clause
// Messages of a program that knows nothing of Fenix: they are logged, and calls that a failure cuts short go on after the repair.
#pragma once

#include <fenix_mpi/persistent.h>
#include <mpi.h>

#include <atomic>
#include <cstdint>

namespace fenix_impl {

/// Whether messages are logged: from MPI_Init to MPI_Finalize, if FENIX_SPARES is set.
[[gnu::visibility("hidden")]] extern std::atomic<bool> logs_messages;

/// Whether messages on a communicator are logged: on the resilient one and those derived from it.
[[gnu::visibility("hidden")]] bool has_log(MPI_Comm comm);

inline bool is_logged(MPI_Comm comm) { return logs_messages.load(std::memory_order_acquire) && has_log(comm); }

/// Tags from here on are those of the messages of collective operations.
constexpr int kFirstInternalTag = 1 << 30;

/// A receive on an ordinary communicator, with the number of its message.
struct LoggedReceive {
  void* buffer = nullptr;
  int count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  int source = 0;
  int tag = 0;
  MPI_Comm comm = MPI_COMM_NULL;
  std::uint64_t number = 0;
};

/// Looks whether its message is there, in a log or from MPI. inner: the request of MPI, made here if need be. Goes on after a failure.
int look_for_logged(const LoggedReceive& receive, MPI_Request* inner, int* flag, MPI_Status* status);
/// Gives a receive the number of its message. Receives of a source and tag get their messages in the order of these calls.
int number_logged_receive(LoggedReceive* receive);
/// Logs a message and begins to send it. The buffer may be used again when this returns.
int start_logged_send(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm);
/// Refuses a function that cannot go on after a failure. Returns the error, after the error handler.
int refuse_logged(MPI_Comm comm);
/// Waits until MPI has sent all messages that the program takes for sent.
void wait_for_sent_messages();

/// Whether this thread is in a call that goes on after a failure.
bool goes_on();

}  // namespace fenix_impl
