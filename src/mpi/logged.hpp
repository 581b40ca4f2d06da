// SPDX-License-Identifier: BSD-3-Clause
// Messages of a program that knows nothing of Fenix: they are logged, and calls that a failure cuts short go on after the repair.
#pragma once

#include <fenix_mpi/persistent.h>
#include <mpi.h>

#include <atomic>
#include <cstdint>

#include "recovery/interposer.hpp"

namespace fenix_impl {

/// Whether messages are logged: from MPI_Init to MPI_Finalize, if FENIX_SPARES is set.
[[gnu::visibility("hidden")]] extern std::atomic<bool> logs_messages;

/// Whether messages on a communicator are logged: on the resilient one and those derived from it.
[[gnu::visibility("hidden")]] bool has_log(MPI_Comm comm);

inline bool is_logged(MPI_Comm comm) { return logs_messages.load(std::memory_order_acquire) && has_log(comm); }

/// Whether a tag is one of the library itself. A program must not use them where messages are logged.
inline bool is_internal(int tag) { return tag >= kFirstInternalTag; }
/// Returns the error for a call with such a tag, after the error handler.
int refuse_tag(MPI_Comm comm);

/// A receive on an ordinary communicator, with the number of its message.
struct LoggedReceive {
  void* buffer = nullptr;
  int count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  int source = 0;
  int tag = 0;
  MPI_Comm comm = MPI_COMM_NULL;
  std::uint64_t number = 0;  ///< 0 as long as it is not known which message it gets
  std::uint64_t receive =
      0;                    ///< number among the receives of the program that can be cancelled or have a wildcard; or 0
  bool was_probed = false;  ///< MPI has given its message to a matched probe
  bool will_be_cancelled = false;
};

/// Looks whether its message is there, in a log or from MPI. inner: the request of MPI, made here if need be. Goes on after a failure.
int look_for_logged(const LoggedReceive& receive, MPI_Request* inner, int* flag, MPI_Status* status);
/// Gives a receive whose source and tag are known the number of its message.
int begin_receive(LoggedReceive* receive);
/// Takes the number back: it has been the latest one.
int end_receive(const LoggedReceive& receive);
/// Logs a message and begins to send it. The buffer may be used again.
int start_logged_send(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm);
/// Waits until MPI has sent all messages that the program takes for sent.
void wait_for_sent_messages();

/// Looks for a message in a log that no receive has got. source and tag may be wildcards. Goes on after a failure.
int find_logged(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status);
/// Receives a message from the log if it is to come from there. Goes on after a failure.
int receive_from_log(const LoggedReceive& receive, int* flag, MPI_Status* status);

/// A call that goes on after failures: they are repaired, and the calls of MPI within return their errors.
class GoingOn {
 public:
  GoingOn();
  GoingOn(const GoingOn&) = delete;
  GoingOn& operator=(const GoingOn&) = delete;
  ~GoingOn();
};

/// Whether this thread is in a call that goes on after a failure.
bool goes_on();

}  // namespace fenix_impl
