// SPDX-License-Identifier: BSD-3-Clause
// Stand-ins for requests of persistent communicators. A stand-in is a persistent request of MPI that does nothing: it is started when
// the message is there, and the program's call that completes it gets the status of the message.
#pragma once

#include <mpi.h>

#include <atomic>

#include "mpi/logged.hpp"
#include "recovery/interposer.hpp"

namespace fenix_impl {

struct Receive {
  void* buffer = nullptr;
  int count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  int source = 0;
  int tag = 0;
  MPI_Comm comm = MPI_COMM_NULL;
};

/// Stand-ins, and messages that were matched and not received yet.
[[gnu::visibility("hidden")]] extern std::atomic<int> stand_ins;

/// Whether calls that complete requests have to look at stand-ins, or are logged.
inline bool has_stand_ins() {
  return stand_ins.load(std::memory_order_acquire) != 0 || logs_messages.load(std::memory_order_acquire);
}

/// Begins a receive, as MPI_Irecv and MPI_Recv_init do. Returns an error of MPI, after the error handler.
int start_receive(const Receive& receive, MPI_Request* request);
int init_receive(const Receive& receive, MPI_Request* request);
/// Makes a request that is complete, with a status.
int add_done_stand_in(const MPI_Status& status, MPI_Request* request);
/// Has a message stored each time when a persistent request is started.
void add_send_stand_in(MPI_Request request, const Send& send);
/// Has a message logged and sent each time when a persistent request is started.
void add_logged_send(MPI_Request request, const Send& send);
/// Makes a request for a logged message that MPI is sending. inner: of MPI; MPI_REQUEST_NULL if the program need not wait.
int add_started_send(MPI_Request inner, MPI_Request* request);
/// Begins a receive whose message may come from a log. If it has no number, it gets one in its turn.
int start_logged_receive(const LoggedReceive& receive, MPI_Request* request);
/// Looks for the messages of all receives that have begun: after a failure, MPI has to know them in the order in which they have begun.
void look_for_earlier_receives();
/// Looks for the message of one receive. MPI has to know those that have begun before: progress_logged_calls().
void look_for_receive(MPI_Request request);
/// Forgets logged receives and collective operations that are under way.
void forget_logged_calls();
/// Whether there are some that the program has not completed.
bool has_open_calls();
/// Makes MPI's persistent request for a collective operation.
using InitFunction = int(const Collective& call, MPI_Info info, MPI_Request* request);
/// Makes a request of a collective operation that is made of logged messages. It is pending, or inactive if it can be started again and
/// again.
int make_logged_collective(const Collective& call, bool is_used_once, MPI_Request* request);
/// Makes a request of a collective operation that is complete.
int add_done_collective(MPI_Request* request);
/// Makes a request that has a collective operation done each time when it is started. Arrays stay the program's, as MPI says.
int init_collective(const Collective& call, InitFunction* init, MPI_Info info, MPI_Request* request);
/// Matches a message that was stored, for MPI_Mrecv. flag: whether there is one.
int match_stored(int source, int tag, MPI_Comm comm, bool waits, int* flag, MPI_Message* message, MPI_Status* status);

}  // namespace fenix_impl
