// SPDX-License-Identifier: BSD-3-Clause
// Sends whose messages are logged, or counted for checkpoints.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "mpi/base/derived.hpp"
#include "mpi/base/log_scope.hpp"
#include "mpi/base/message_calls.hpp"
#include "mpi/base/outgoing.hpp"
#include "mpi/base/real.hpp"
#include "mpi/logged/fast_path.hpp"

namespace fenix_impl {

/// Logs a message. packed says before whether it is synchronous. Repeats a call that a failure has cut short, if the program wants it.
int log_send(const SendCall& message, Packed* packed);
/// Returns the error of a send after a failure. The message is in the log, and its receiver takes it from there: so a call that is made again finds it.
int without_failure(int error, const SendCall& message);
/// Says whether the receive of a synchronous message has begun that MPI does not send, as it is in the log. Returns an error of MPI.
int look_whether_taken(const SendCall& message, std::uint64_t number, int* flag);
/// Whether a message may be sent before it is logged. The answer stays until the log is another one.
bool may_send_first();
/// Counts a message, if nothing else is to be done for it before it is sent.
bool count_fast(const SendCall& message);
/// Whether messages are only counted, for checkpoints.
inline bool are_counted() { return libfenix().prepare_send == nullptr; }

/// Logs a message, and begins to send it. begin: returns an error of MPI, and may make the request. Returns an error after the error handler.
template <class Begin>
int log_first(const SendCall& message, const Begin& begin, MPI_Request* request, Packed* packed) {
  const int error = log_send(message, packed);
  if (error != MPI_SUCCESS) return raise_on(message.comm, error);
  const Packed logged = *packed;
  packed->data = nullptr;
  if (logged.data == nullptr) return MPI_SUCCESS;
  const int begun = begin(logged);
  if (begun != MPI_SUCCESS) *request = MPI_REQUEST_NULL;
  return without_failure(begun, message);
}

/// Asks whether a message is to be sent before it is logged. Returns an error after the error handler.
int prepare_send(const SendCall& message, int* is_sent);
/// Logs a message that has begun before. repairs: before that. Where there is no request in the end, packed says whether the message has to be
/// sent once more.
int log_begun(const SendCall& message, unsigned repairs, MPI_Request* request, Packed* packed);

/// Does the same, and logs the message while it is on its way, if that may be: its receiver need not wait for the log. packed: see log_begun().
template <class Begin>
int log_meanwhile(const SendCall& message, const Begin& begin, MPI_Request* request, Packed* packed) {
  if (!may_send_first()) return log_first(message, begin, request, packed);
  int is_sent = 1;
  const int error = prepare_send(message, &is_sent);
  if (error != MPI_SUCCESS) return error;
  const unsigned repairs = registry().repairs;
  const int begun = is_sent != 0 ? begin({}) : MPI_SUCCESS;
  if (begun != MPI_SUCCESS) *request = MPI_REQUEST_NULL;
  // If the program makes the call again, it is a message then.
  if (begun != MPI_SUCCESS && (!tells_of_failure(begun) || !repeats_calls())) return begun;
  return log_begun(message, repairs, request, packed);
}

/// Logs a message and begins to send it. The buffer may be used again.
int start_logged_send(const SendCall& message);
/// Whether a message is so large that it is sent from where it is, rather than from a copy.
bool has_many_bytes(int count, MPI_Datatype type);
/// Whether a message takes so long that its copy for the log is made meanwhile.
bool is_large(int count, MPI_Datatype type);
/// Logs a message, or counts it, and begins to send it.
int begin_logged_send(const Send& send, Started* started);
/// Has a message logged and sent each time when a persistent request is started.
void add_logged_send(MPI_Request request, const Send& send);
/// Makes a request for a logged message.
int add_started_send(const Send& send, const Started& started, MPI_Request* request);

}  // namespace fenix_impl
