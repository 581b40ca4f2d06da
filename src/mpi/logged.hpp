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

/// The communicator of the active log of the program (Fenix_Mlog_activate); null: none.
[[gnu::visibility("hidden")]] extern std::atomic<MPI_Comm> comm_of_log;

inline bool is_logged(MPI_Comm comm) {
  if (logs_messages.load(std::memory_order_acquire)) return has_log(comm);
  return comm_of_log.load(std::memory_order_acquire) == comm;
}

/// Returns the number of a communicator that all its members have for it: 0 if it is neither the resilient one nor derived from it.
std::uint64_t number_of(MPI_Comm comm);
/// Logs the messages on a communicator from now on, under the number of a log. MPI_COMM_NULL: on none.
void set_log(MPI_Comm comm, std::uint64_t channel);

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

/// Whether calls that a failure has cut short go on after the repair. Otherwise they end with its error.
bool repeats_calls();
/// Takes back the number of a message whose call ends with a failure: the program may call it again. is_sent: otherwise received.
void take_back(bool is_sent, int peer, int tag, MPI_Comm comm);
/// Ends a call of the program with the error of a failure, as FENIX_RESUME_MODE says, if it is not repeated. Returns the error.
int leave_logged(int error);
/// Has a call of the program end.
inline int left(int error) {
  return error == MPI_SUCCESS ? error : leave_logged(error);
}

/// Whether the failure in which this thread is, if any, is dealt with here.
bool goes_on();

}  // namespace fenix_impl
