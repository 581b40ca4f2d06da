// SPDX-License-Identifier: BSD-3-Clause
// Sends and receives of the program whose messages are logged, or counted.
#include <fenix_mpi/persistent.h>
#include <mpi.h>
#include <sched.h>

#include <atomic>
#include <cstddef>

#include "mpi/base/derived.hpp"
#include "mpi/base/handles.hpp"
#include "mpi/base/log_scope.hpp"
#include "mpi/base/real.hpp"
#include "mpi/base/stand_in_table.hpp"
#include "mpi/logged/counted_receives.hpp"
#include "mpi/logged/fast_calls.hpp"
#include "mpi/logged/fast_path.hpp"
#include "mpi/logged/progress.hpp"
#include "mpi/logged/receive_queue.hpp"
#include "mpi/logged/receive_start.hpp"
#include "mpi/logged/receive_step.hpp"
#include "mpi/logged/sends.hpp"
#include "mpi/logged/stash.hpp"

namespace fenix_impl {

namespace {

using SendFunction = int (*)(const void*, int, MPI_Datatype, int, int, MPI_Comm);

/// Whether a message is not sent from the log: it takes long, or another thread may be logging meanwhile.
bool must_come_from_buffer(std::size_t bytes) { return bytes >= kLargeBytes || calls_may_overlap(); }

/// Waits until the receive of a synchronous message has begun. MPI does not send it: the receiver takes it from the log. Returns an error after the error handler, and that of
/// a failure if the program makes the call again.
int wait_until_taken(const SendCall& message, std::uint64_t number) {
  constexpr unsigned kLooksAtOnce = 16;
  for (unsigned looks = 1;; ++looks) {
    int flag = 0;
    const int error = look_whether_taken(message, number, &flag);
    if (error != MPI_SUCCESS) return raise_on(message.comm, without_failure(error, message));
    if (flag != 0) return MPI_SUCCESS;
    // Its receiver may wait for another call of this process.
    progress_logged_calls();
    if (looks % kLooksAtOnce == 0) sched_yield();
  }
}

/// Logs a message, or counts it, and sends it. The message's start begins what real_send does.
int send(SendFunction real_send, const Send& message) {
  if (message.destination == MPI_PROC_NULL) return MPI_SUCCESS;
  const RepeatableCall call;
  Packed packed;
  packed.is_synchronous = real_send == real.Ssend;
  MPI_Request request = MPI_REQUEST_NULL;
  const bool is_begun = is_large(message.count, message.type);
  progress_logged_calls();
  bool has_ended_in_mpi = false;
  // As long as other calls need this library, the program must not be kept in MPI.
  const auto begin = [&](const Packed& logged) {
    const MPI_Comm at = now(message.comm);
    if (is_begun || calls_need_progress()) {
      return message.start(message.buffer, message.count, message.type, message.destination, message.tag, at, &request);
    }
    // MPI need not pack once more what the log has packed. It stays there until the next message is logged.
    const bool is_from_buffer = logged.data == nullptr || must_come_from_buffer(logged.bytes);
    const int error =
        is_from_buffer
            ? real_send(message.buffer, message.count, message.type, message.destination, message.tag, at)
            : real_send(logged.data, static_cast<int>(logged.bytes), MPI_BYTE, message.destination, message.tag, at);
    has_ended_in_mpi = error == MPI_SUCCESS;
    return error;
  };
  int error = MPI_SUCCESS;
  if (!are_counted()) {
    error = log_meanwhile(message, begin, &request, &packed);
  } else if (count_fast(message)) {
    packed.data = &packed;
  } else {
    error = raise_on(message.comm, log_send(message, &packed));
  }
  if (error != MPI_SUCCESS) return error;
  if (packed.data != nullptr) {
    error = begin({});
    if (error != MPI_SUCCESS) request = MPI_REQUEST_NULL;
  }
  if (request != MPI_REQUEST_NULL) {
    error = wait_and_go_on(&request);
    has_ended_in_mpi = error == MPI_SUCCESS;
  }
  error = without_failure(error, message);
  if (error != MPI_SUCCESS || has_ended_in_mpi || packed.number == 0) return error;
  return wait_until_taken(message, packed.number);
}

/// Makes a request for a message that is logged, or counted, and begins to send it.
int start_send(const Send& message, MPI_Request* request) {
  if (message.destination == MPI_PROC_NULL) {
    return real.Isend(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, request);
  }
  Started started;
  const int error = begin_logged_send(message, &started);
  if (error != MPI_SUCCESS) return error;
  if (!are_counted()) {
    return add_fast_send(message, started, request) ? MPI_SUCCESS : add_started_send(message, started, request);
  }
  if (started.inner == MPI_REQUEST_NULL) {
    return real.Isend(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, request);
  }
  *request = started.inner;
  return MPI_SUCCESS;
}

/// Returns the function that begins a send whose message is copied in the call. Null: libfenix_mpi has the copy.
StartFunction copies_at_once() { return are_counted() ? real.Ibsend : nullptr; }

/// Makes a request that logs a message and begins to send it each time when it is started.
int init_send(const Send& message, MPI_Request* request) {
  const int error = real.Send_init(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, request);
  if (error == MPI_SUCCESS) add_logged_send(*request, message);
  return error;
}

}  // namespace

int logged_Send(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  return send(real.Send, {{buf, count, datatype, dest, tag, comm}, real.Isend});
}
// Its copy does not stay in the program's memory: that would have to be waited for, also by MPI_Buffer_detach.
int logged_Bsend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  if (!are_counted()) return start_logged_send({buf, count, datatype, dest, tag, comm});
  return send(real.Bsend, {{buf, count, datatype, dest, tag, comm}, real.Ibsend});
}
int logged_Ssend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  return send(real.Ssend, {{buf, count, datatype, dest, tag, comm}, real.Issend});
}
// After a failure its receiver may not have come to its receive.
int logged_Rsend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  return send(real.Send, {{buf, count, datatype, dest, tag, comm}, real.Isend});
}

namespace {

/// Ends a receive that a failure has cut short, and that the program may call again.
int without_message(const LoggedReceive& receive, int error) {
  take_back(/*is_sent=*/false, receive.source, receive.tag, receive.comm);
  return error;
}

/// Receives a message that comes from MPI, if the program has no other requests. Returns false if that may not be done here. error: of MPI;
/// after a failure the message may be in a log.
bool receive_fast(LoggedReceive* receive, MPI_Status* status, int* error) {
  if (stand_ins.load(std::memory_order_acquire) != 0 || is_internal(receive->tag)) return false;
  const FastReceive fast = fast_receive(receive->source, receive->tag, receive->comm);
  if (!fast.is_allowed) return false;
  const RepeatableCall call;
  const unsigned generation = fast_path_generation();
  receive->repairs = registry().repairs;
  receive->number = ++*fast.begun;
  if (fast.waited_for != nullptr) *fast.waited_for = receive->number;
  *error = real.Recv(receive->buffer, receive->count, receive->type, receive->source, receive->tag, now(receive->comm),
                     status);
  if (tells_of_failure(*error)) return true;
  if (fast.waited_for != nullptr && fast_path_generation() == generation) {
    *fast.waited_for = 0;
  } else {
    end_receive(*receive, status);
  }
  return true;
}

}  // namespace

namespace {

/// Receives a message behind the receives that have begun before.
int receive_in_turn(const LoggedReceive& receive, MPI_Status* status) {
  MPI_Request request = MPI_REQUEST_NULL;
  // One without a wildcard has no number of its own: whether it comes here is a matter of time.
  const int error =
      is_wildcard(receive) ? start_program_receive(receive, &request) : start_logged_receive(receive, &request);
  return error != MPI_SUCCESS ? error : with_stand_ins_Wait(&request, status);
}

}  // namespace

int logged_Recv(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status* status) {
  if (source == MPI_PROC_NULL) return real.Recv(buf, count, datatype, source, tag, MPI_COMM_SELF, status);
  LoggedReceive receive{{buf, count, datatype, source, tag, comm}};
  if (is_wildcard(receive) || progress_logged_calls()) return receive_in_turn(receive, status);
  MPI_Status own{};
  if (status == MPI_STATUS_IGNORE) status = &own;
  int error = MPI_SUCCESS;
  if (receive_fast(&receive, status, &error)) {
    if (!tells_of_failure(error)) return error;
    if (!repeats_calls()) return without_message(receive, error);
  } else {
    error = begin_receive(&receive);
    if (error != MPI_SUCCESS) return error;
  }
  for (;;) {
    const RepeatableCall call;
    const unsigned repairs = registry().repairs;
    // Receives that the program has begun before come first.
    look_for_earlier_receives();
    int flag = 0;
    int outcome = receive_from_log(receive, &flag, status);
    if (flag != 0) end_receive(receive, status);
    if (flag != 0 || (outcome != MPI_SUCCESS && !tells_of_failure(outcome))) return raise_on(comm, outcome);
    if (registry().repairs != repairs && repeats_calls()) continue;
    if (outcome != MPI_SUCCESS) return without_message(receive, outcome);
    MPI_Message stashed = MPI_MESSAGE_NULL;
    outcome = take_stashed(comm, source, tag, &stashed)
                  ? real.Mrecv(buf, count, datatype, &stashed, status)
                  : real.Recv(buf, count, datatype, source, tag, now(comm), status);
    if (!tells_of_failure(outcome)) {
      end_receive(receive, status);
      return outcome;
    }
    if (!repeats_calls()) return without_message(receive, outcome);
  }
}

namespace {

/// Undoes the send of an MPI_Sendrecv or the like if the program will repeat the whole call.
int without_sent(int error, int dest, int tag, MPI_Comm comm) {
  if (tells_of_failure(error) && !repeats_calls() && dest != MPI_PROC_NULL) {
    take_back(/*is_sent=*/true, dest, tag, comm);
  }
  return error;
}

}  // namespace

int logged_Sendrecv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void* recvbuf,
                    int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status* status) {
  MPI_Request sent = MPI_REQUEST_NULL;
  const Send message{{sendbuf, sendcount, sendtype, dest, sendtag, comm}, real.Isend};
  const bool is_begun = dest != MPI_PROC_NULL && is_large(sendcount, sendtype);
  const int error = is_begun ? start_send(message, &sent) : start_logged_send(message);
  if (error != MPI_SUCCESS) return error;
  const int received = logged_Recv(recvbuf, recvcount, recvtype, source, recvtag, comm, status);
  if (is_begun) (void)with_stand_ins_Wait(&sent, MPI_STATUS_IGNORE);
  return without_sent(received, dest, sendtag, comm);
}

int logged_Sendrecv_replace(void* buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag,
                            MPI_Comm comm, MPI_Status* status) {
  const int error = start_logged_send({buf, count, datatype, dest, sendtag, comm});
  if (error != MPI_SUCCESS) return error;
  return without_sent(logged_Recv(buf, count, datatype, source, recvtag, comm, status), dest, sendtag, comm);
}

int logged_Irecv(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                 MPI_Request* request) {
  if (source == MPI_PROC_NULL) return real.Irecv(buf, count, datatype, source, tag, MPI_COMM_SELF, request);
  const LoggedReceive receive{{buf, count, datatype, source, tag, comm}};
  int error = MPI_SUCCESS;
  const bool is_begun = begin_counted_receive(receive, request, &error) || begin_fast_receive(receive, request, &error);
  return is_begun ? error : start_program_receive(receive, request);
}

int logged_Isendrecv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void* recvbuf,
                     int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
                     MPI_Request* request) {
  const int error = start_logged_send({sendbuf, sendcount, sendtype, dest, sendtag, comm});
  if (error != MPI_SUCCESS) return error;
  return without_sent(logged_Irecv(recvbuf, recvcount, recvtype, source, recvtag, comm, request), dest, sendtag, comm);
}

int logged_Isendrecv_replace(void* buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source,
                             int recvtag, MPI_Comm comm, MPI_Request* request) {
  const int error = start_logged_send({buf, count, datatype, dest, sendtag, comm});
  if (error != MPI_SUCCESS) return error;
  return without_sent(logged_Irecv(buf, count, datatype, source, recvtag, comm, request), dest, sendtag, comm);
}

int logged_Isend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                 MPI_Request* request) {
  return start_send({{buf, count, datatype, dest, tag, comm}, real.Isend}, request);
}
int logged_Ibsend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  return start_send({{buf, count, datatype, dest, tag, comm}, copies_at_once()}, request);
}
int logged_Issend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  return start_send({{buf, count, datatype, dest, tag, comm}, real.Issend}, request);
}
int logged_Irsend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  return start_send({{buf, count, datatype, dest, tag, comm}, real.Isend}, request);
}

int logged_Send_init(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                     MPI_Request* request) {
  return init_send({{buf, count, datatype, dest, tag, comm}, real.Isend}, request);
}
int logged_Bsend_init(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                      MPI_Request* request) {
  return init_send({{buf, count, datatype, dest, tag, comm}, copies_at_once()}, request);
}
int logged_Ssend_init(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                      MPI_Request* request) {
  return init_send({{buf, count, datatype, dest, tag, comm}, real.Issend}, request);
}
int logged_Rsend_init(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                      MPI_Request* request) {
  return init_send({{buf, count, datatype, dest, tag, comm}, real.Isend}, request);
}

int logged_Recv_init(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                     MPI_Request* request) {
  if (source == MPI_PROC_NULL) return real.Recv_init(buf, count, datatype, source, tag, MPI_COMM_SELF, request);
  return init_logged_receive({{buf, count, datatype, source, tag, comm}}, request);
}

}  // namespace fenix_impl
