// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/logged/receive_step.hpp"

#include "mpi/base/derived.hpp"
#include "mpi/base/handles.hpp"
#include "mpi/base/log_scope.hpp"
#include "mpi/base/real.hpp"
#include "mpi/logged/fast_path.hpp"
#include "mpi/logged/stash.hpp"

namespace fenix_impl {

int begin_receive(LoggedReceive* receive) {
  const RepeatableCall call;
  const FastReceive fast = fast_receive(receive->source, receive->tag, receive->comm);
  if (fast.is_allowed && fast.waited_for == nullptr) {
    receive->number = ++*fast.begun;
    receive->is_logged = false;
    receive->repairs = registry().repairs;
    return MPI_SUCCESS;
  }
  int error = MPI_SUCCESS;
  do {
    int is_logged = 1;
    error = libfenix().begin_receive(partner_of(*receive, comm_id_of(receive->comm)), &receive->number, &is_logged);
    receive->is_logged = is_logged != 0;
    receive->repairs = registry().repairs;
  } while (tells_of_failure(error) && repeats_calls());
  return raise_on(receive->comm, error);
}

void end_receive(const LoggedReceive& receive, const MPI_Status* status) {
  if (!libfenix().notes_ends->load(std::memory_order_acquire)) return;
  libfenix().end_receive(receive, comm_id_of(receive.comm), receive.number, status);
}

void note_found(int source, int tag, MPI_Comm comm, std::uint64_t number) {
  libfenix().note_found({comm, comm_id_of(comm), source, tag}, number);
}

void take_back(bool is_sent, int peer, int tag, MPI_Comm comm) {
  libfenix().take_back(is_sent, {comm, comm_id_of(comm), peer, tag});
}

int find_logged(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  const RepeatableCall call;
  int error = MPI_SUCCESS;
  do {
    *flag = 0;
    error = libfenix().find_logged({comm, comm_id_of(comm), source, tag}, flag, status);
  } while (tells_of_failure(error) && repeats_calls());
  return error;
}

int receive_from_log(const LoggedReceive& receive, int* flag, MPI_Status* status) {
  *flag = 0;
  if (!receive.is_logged && receive.repairs == registry().repairs) return MPI_SUCCESS;
  const RepeatableCall call;
  int error = MPI_SUCCESS;
  do {
    *flag = 0;
    error = libfenix().receive_logged(receive, comm_id_of(receive.comm), receive.number, flag, status);
  } while (tells_of_failure(error) && repeats_calls());
  return error;
}

int look_for_logged(const LoggedReceive& receive, MPI_Request* inner, bool only_begins, int* flag, MPI_Status* status) {
  const RepeatableCall call;
  const unsigned repairs = registry().repairs;
  // Once more if the request is from before an earlier repair: MPI has to know this receive before later ones.
  for (int attempt = 0; attempt < 2; ++attempt) {
    int error = MPI_SUCCESS;
    *flag = 0;
    // Only a repair can bring a message into the log that was not there before, and it ends the request of MPI.
    if (*inner == MPI_REQUEST_NULL) {
      error = receive_from_log(receive, flag, status);
      // Also one that is too long for its buffer.
      if (*flag != 0) end_receive(receive, status);
      if (error != MPI_SUCCESS) return raise_on(receive.comm, error);
      // After a repair MPI has to know earlier receives before this one: the caller looks for them first.
      if (*flag != 0 || registry().repairs != repairs) return MPI_SUCCESS;
      MPI_Message stashed = MPI_MESSAGE_NULL;
      error = take_stashed(receive.comm, receive.source, receive.tag, &stashed)
                  ? real.Imrecv(receive.buffer, receive.count, receive.type, &stashed, inner)
                  : real.Irecv(receive.buffer, receive.count, receive.type, receive.source, receive.tag,
                               now(receive.comm), inner);
      if (error == MPI_SUCCESS && only_begins) return MPI_SUCCESS;
    }
    if (error == MPI_SUCCESS) error = real.Test(inner, flag, status);
    if (*flag != 0 && !tells_of_failure(error)) end_receive(receive, status);
    if (!tells_of_failure(error) || !repeats_calls()) return error;
    *inner = MPI_REQUEST_NULL;
    *flag = 0;
  }
  return MPI_SUCCESS;
}

}  // namespace fenix_impl
