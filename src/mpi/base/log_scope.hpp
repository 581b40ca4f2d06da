// SPDX-License-Identifier: BSD-3-Clause
// Which messages are logged, and how calls of the program go on after failures.
#pragma once

#include <atomic>
#include <cstdint>
#include <mpi.h>

#include "interposition/collective.hpp"
#include "mpi/base/libfenix.hpp"

namespace fenix_impl {

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
std::uint64_t comm_id_of(MPI_Comm comm);
/// Logs the messages on a communicator from now on, under the number of a log. MPI_COMM_NULL: on none.
void set_log(MPI_Comm comm, std::uint64_t comm_id);

/// Whether a tag is one of the library itself. A program must not use them where messages are logged.
inline bool is_internal(int tag) { return tag >= kFirstInternalTag; }
/// Returns the error for a call with such a tag, after the error handler.
int refuse_tag(MPI_Comm comm);

/// Marks a call that can be repeated after failures. These are repaired meanwhile, and the calls of MPI within return their errors.
class RepeatableCall {
 public:
  RepeatableCall();
  RepeatableCall(const RepeatableCall&) = delete;
  RepeatableCall& operator=(const RepeatableCall&) = delete;
  ~RepeatableCall();
};

/// Whether calls that a failure has cut short go on after the repair. Otherwise they end with its error.
bool repeats_calls();
/// Ends a call of the program with the error of a failure, as FENIX_RESUME_MODE says, if it is not repeated. Returns the error.
int leave_logged(int error);
/// Ends a call of the program: after an error as leave_logged().
inline int left(int error) { return error == MPI_SUCCESS ? error : leave_logged(error); }

/// Whether the failure in which this thread is, if any, is dealt with here.
bool goes_on();

/// Sends messages that wait for the next logged call.
void send_what_waits();
/// Waits until MPI has sent all messages that the program takes for sent.
void wait_for_sent_messages();

}  // namespace fenix_impl
