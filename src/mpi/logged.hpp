// SPDX-License-Identifier: BSD-3-Clause
// Messages that are logged: those of a program that knows nothing of Fenix, and those on the communicator of an active log of a program.
// Calls that a failure cuts short go on after the repair, if the program wants it.
#pragma once

#include <fenix_mpi/persistent.h>
#include <mpi.h>

#include <atomic>
#include <cstdint>

#include "recovery/interposer.hpp"

namespace fenix_impl {

/// Whether messages on all communicators are logged, or counted for checkpoints.
[[gnu::visibility("hidden")]] extern std::atomic<bool> logs_messages;

/// Whether the program knows nothing of Fenix: from MPI_Init to MPI_Finalize, if FENIX_SPARES is set.
[[gnu::visibility("hidden")]] extern std::atomic<bool> is_transparent;

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
/// Returns the number of a communicator under which its messages are logged.
std::uint64_t channel_of(MPI_Comm comm);
/// Logs the messages on a communicator from now on, under the number of a log. MPI_COMM_NULL: on none.
void set_log(MPI_Comm comm, std::uint64_t channel);

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
  bool is_logged = true;    ///< its message may be in a log
  unsigned repairs = 0;     ///< so many there had been when it got its number
  bool was_probed = false;  ///< MPI has given its message to a matched probe
  bool will_be_cancelled = false;
};

using StartFunction = int (*)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

struct Send {
  const void* buffer = nullptr;
  int count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  int destination = 0;
  int tag = 0;
  MPI_Comm comm = MPI_COMM_NULL;
  StartFunction start = nullptr;  ///< of MPI; null: the message is copied in the call
};

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
/// Logs a message and begins to send it. The buffer may be used again.
int start_logged_send(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm);
/// Whether a message is so large that it is sent from where it is, rather than from a copy.
bool has_many_bytes(int count, MPI_Datatype type);
/// Logs a message, or counts it, and begins to send it. inner: of MPI; MPI_REQUEST_NULL if the program need not wait.
int begin_logged_send(const Send& send, MPI_Request* inner);
/// Sends a message by send_what_waits, or with the next logged call, unless there is a repair before.
void send_later(MPI_Comm comm, int dest, int tag, const void* content, std::size_t bytes);
void send_what_waits();
/// Lets the program's calls that are under way go on until all members of a communicator are here. Its messages are not logged. Returns an
/// error of MPI.
int meet(MPI_Comm comm);
/// Finds the greatest of the values of all ranks by messages that are logged. Control may leave it.
int greatest_of_all(int value, int* greatest, MPI_Comm comm);
/// Waits until MPI has sent all messages that the program takes for sent.
void wait_for_sent_messages();

/// Notes that a message is there, before the outcome that comes from it. number: of its receive, or 0.
void note_found(int source, int tag, MPI_Comm comm, std::uint64_t number);
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

/// Whether calls that a failure has cut short go on after the repair. Otherwise they end with its error.
bool repeats_calls();
/// Ends a call of the program with the error of a failure, as FENIX_RESUME_MODE says, if it is not repeated. Returns the error.
int leave_logged(int error);
/// Has a call of the program end.
inline int left(int error) { return error == MPI_SUCCESS ? error : leave_logged(error); }

/// Whether the failure in which this thread is, if any, is dealt with here.
bool goes_on();

}  // namespace fenix_impl
