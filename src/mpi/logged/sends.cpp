// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/logged/sends.hpp"

#include "mpi/base/handles.hpp"
#include "mpi/base/stand_in_table.hpp"
#include "mpi/logged/receive_step.hpp"

namespace fenix_impl {
namespace {

FastSend fast_send_of(const SendCall& message) { return fast_send(message.destination, message.tag, message.comm); }

bool is_repeating() {
  // It is over for good, unless there is another repair.
  static unsigned over_in_generation = 0;
  static bool is_over = false;
  const unsigned generation = fast_path_generation();
  if (is_over && generation == over_in_generation && !calls_may_overlap()) return false;
  int repeats = 1;
  const bool is_so = libfenix().look_whether_repeating(&repeats) != MPI_SUCCESS || repeats != 0;
  is_over = !is_so;
  over_in_generation = generation;
  return is_so;
}

}  // namespace

int log_send(const SendCall& message, Packed* packed) {
  // Not later: a repair between log and send would have the message sent once more.
  forget_those_that_have_arrived();
  const FastSend fast = packed->is_synchronous ? FastSend() : fast_send_of(message);
  if (fast.logged != nullptr && libfenix().log_fast(fast, message, packed)) return MPI_SUCCESS;
  int error = MPI_SUCCESS;
  do {
    error = libfenix().log_send(message, comm_id_of(message.comm), packed);
  } while (tells_of_failure(error) && repeats_calls());
  return error;
}

int without_failure(int error, const SendCall& message) {
  if (!tells_of_failure(error)) return error;
  if (repeats_calls()) return MPI_SUCCESS;
  take_back(/*is_sent=*/true, message.destination, message.tag, message.comm);
  return error;
}

bool may_send_first() {
  struct Known {
    bool is_known = false;
    bool may = false;
    unsigned generation = 0;
  };
  static Known known;
  if (calls_may_overlap()) return libfenix().may_send_first();
  const unsigned generation = fast_path_generation();
  if (!known.is_known || known.generation != generation) known = {true, libfenix().may_send_first(), generation};
  return known.may;
}

int prepare_send(const SendCall& message, int* is_sent) {
  const FastSend fast = fast_send_of(message);
  *is_sent = 1;
  if (fast.is_allowed && !*fast.has_outcomes) return MPI_SUCCESS;
  int error = MPI_SUCCESS;
  do {
    error = libfenix().prepare_send(partner_of(message, comm_id_of(message.comm)), is_sent);
  } while (tells_of_failure(error) && repeats_calls());
  return error != MPI_SUCCESS ? raise_on(message.comm, error) : MPI_SUCCESS;
}

int log_begun(const SendCall& message, unsigned repairs, MPI_Request* request, Packed* packed) {
  fault_point("mlog.sending");
  const int error = log_send(message, packed);
  if (error == MPI_SUCCESS && registry().repairs == repairs) {
    // It is on its way, or its receiver gets it from the log.
    packed->data = nullptr;
    return MPI_SUCCESS;
  }
  // The log did not have it when a failure was repaired: it may have to be sent now.
  if (*request != MPI_REQUEST_NULL) (void)real.Wait(request, MPI_STATUS_IGNORE);
  *request = MPI_REQUEST_NULL;
  return error != MPI_SUCCESS ? raise_on(message.comm, error) : MPI_SUCCESS;
}

bool count_fast(const SendCall& message) {
  const FastSend fast = fast_send_of(message);
  if (!fast.is_allowed || fast.sent == nullptr) return false;
  ++*fast.sent;
  return true;
}

bool has_many_bytes(int count, MPI_Datatype type) {
  MPI_Count bytes = 0;
  return PMPI_Type_size_x(type, &bytes) == MPI_SUCCESS && count * bytes >= static_cast<MPI_Count>(kLargeBytes);
}

bool is_large(int count, MPI_Datatype type) {
  return libfenix().prepare_send != nullptr && has_many_bytes(count, type);
}

int look_whether_taken(const SendCall& message, std::uint64_t number, int* flag) {
  const RepeatableCall call;
  int error = MPI_SUCCESS;
  do {
    *flag = 0;
    error = libfenix().look_whether_taken(partner_of(message, comm_id_of(message.comm)), number, flag);
  } while (tells_of_failure(error) && repeats_calls());
  return error;
}

int start_logged_send(const SendCall& message) {
  if (message.destination == MPI_PROC_NULL) return MPI_SUCCESS;
  const RepeatableCall call;
  Packed packed;
  const int error = log_send(message, &packed);
  if (error != MPI_SUCCESS) return raise_on(message.comm, error);
  if (packed.data == nullptr) return MPI_SUCCESS;
  return without_failure(start_copy(packed, message.destination, message.tag, message.comm), message);
}

int begin_logged_send(const Send& send, Started* started) {
  *started = {};
  MPI_Request* const inner = &started->inner;
  Packed packed;
  packed.is_synchronous = send.start == real.Issend;
  // A process that repeats what its predecessor has done must not wait where that one had gone on.
  const bool is_copied = send.start == nullptr || (!packed.is_synchronous && !are_counted() && is_repeating());
  if (is_copied) return start_logged_send(send);
  if (send.destination == MPI_PROC_NULL) return MPI_SUCCESS;
  const RepeatableCall call;
  const auto begin = [&](const Packed&) {
    return send.start(send.buffer, send.count, send.type, send.destination, send.tag, now(send.comm), inner);
  };
  int error = MPI_SUCCESS;
  if (!are_counted()) {
    error = log_meanwhile(send, begin, inner, &packed);
  } else if (count_fast(send)) {
    packed.data = &packed;
  } else {
    error = raise_on(send.comm, log_send(send, &packed));
  }
  started->number = packed.number;
  if (error != MPI_SUCCESS || packed.data == nullptr) return error;
  error = begin({});
  if (error != MPI_SUCCESS) *inner = MPI_REQUEST_NULL;
  return without_failure(error, send);
}

void add_logged_send(MPI_Request request, const Send& send) {
  StandIn stand_in;
  stand_in.kind = StandIn::Kind::logged_send;
  stand_in.send = send;
  add_stand_in(request, stand_in);
}

int add_started_send(const Send& send, const Started& started, MPI_Request* request) {
  StandIn stand_in;
  stand_in.kind = StandIn::Kind::started_send;
  stand_in.is_used_once = true;
  stand_in.send = send;
  stand_in.inner = started.inner;
  stand_in.sent = started.number;
  stand_in.repairs = registry().repairs;
  const int error = make_request(request);
  if (error != MPI_SUCCESS) return error;
  stand_in.state = StandIn::State::pending;
  add_stand_in(*request, stand_in);
  if (has_ended(started)) set_done(*request, MPI_SUCCESS, {});
  return MPI_SUCCESS;
}

}  // namespace fenix_impl
