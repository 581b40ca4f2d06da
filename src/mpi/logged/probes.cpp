// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/logged/probes.hpp"

#include <fenix_mpi/persistent.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>

#include "mpi/base/derived.hpp"
#include "mpi/base/handles.hpp"
#include "mpi/base/real.hpp"
#include "mpi/base/stand_in_table.hpp"
#include "mpi/logged/outcomes.hpp"
#include "mpi/logged/progress.hpp"
#include "mpi/logged/receive_queue.hpp"
#include "mpi/logged/receive_start.hpp"
#include "mpi/logged/receive_step.hpp"
#include "mpi/logged/stash.hpp"

namespace fenix_impl {
namespace {

/// A message that a probe has matched.
struct Matched {
  LoggedReceive receive;
  bool is_in_log = false;  ///< the handle is that of an empty message
  unsigned repairs = 0;    ///< before it was matched: after one more it is in the log
};

std::map<MPI_Message, Matched>& matched() {
  static auto* instance = new std::map<MPI_Message, Matched>;
  return *instance;
}

/// Makes the handle of a message that does not come from MPI.
int make_handle(MPI_Message* message) {
  static MPI_Comm self = [] {
    MPI_Comm made = MPI_COMM_NULL;
    real.Comm_dup(MPI_COMM_SELF, &made);
    return made;
  }();
  MPI_Request sent = MPI_REQUEST_NULL;
  int error = real.Isend(nullptr, 0, MPI_BYTE, 0, 0, self, &sent);
  if (error == MPI_SUCCESS) error = real.Mprobe(0, 0, self, message, MPI_STATUS_IGNORE);
  if (error == MPI_SUCCESS) error = real.Wait(&sent, MPI_STATUS_IGNORE);
  return error;
}

void free_handle(MPI_Message message) { (void)real.Mrecv(nullptr, 0, MPI_BYTE, &message, MPI_STATUS_IGNORE); }

/// Looks for a message that a probe of the program gets, behind the receives that have begun. is_in_log: it is not from MPI.
int find_message(const ProbeCall& wanted, int* flag, bool* is_in_log, MPI_Status* status) {
  const int source = wanted.source;
  const int tag = wanted.tag;
  const MPI_Comm comm = wanted.comm;
  const RepeatableCall call;
  for (;;) {
    const unsigned repairs = registry().repairs;
    look_for_earlier_receives();
    int error = find_logged(source, tag, comm, flag, status);
    *is_in_log = *flag != 0;
    if (error != MPI_SUCCESS) return raise_on(comm, error);
    if (*flag != 0) return MPI_SUCCESS;
    if (registry().repairs != repairs) {
      if (!repeats_calls()) return MPIX_ERR_REVOKED;
      continue;
    }
    error = real.Iprobe(source, tag, now(comm), flag, status);
    if (tells_of_failure(error)) {
      (void)note_look_in_vain(true);
      if (!repeats_calls()) return error;
      continue;
    }
    if (error != MPI_SUCCESS) return error;
    // A program that asks again and again must not stay here after a repair that it has not seen.
    if (*flag == 0) return note_look_in_vain(false);
    if (is_internal(status->MPI_TAG)) {
      (void)put_aside(comm, status->MPI_SOURCE, status->MPI_TAG);
      continue;
    }
    // A receive that has begun comes first.
    if (!is_for_begun_receive(comm, status->MPI_SOURCE, status->MPI_TAG)) return MPI_SUCCESS;
  }
}

struct Probed {
  MPI_Status status{};
  bool is_in_log = false;
};

/// Looks for a message until it is there. has_end: whether a deadline counts from now on.
int wait_for_message(const ProbeCall& wanted, bool has_end, Probed* probed) {
  for (const double since = PMPI_Wtime();;) {
    int flag = 0;
    const int error = find_message(wanted, &flag, &probed->is_in_log, &probed->status);
    if (error != MPI_SUCCESS || flag != 0) return error;
    if (const int due = pause_wait(has_end ? since : PMPI_Wtime()); due != MPI_SUCCESS && !tells_of_failure(due)) {
      return raise_on(wanted.comm, due);
    }
  }
}

/// Probes, as the predecessor of this process did if it has one.
int probe(DeterminantKind call, const ProbeCall& wanted, int* flag, Probed* probed) {
  const auto [source, tag, comm, waits] = wanted;
  *flag = 1;
  // Only one message can be the answer.
  if (waits && !is_wildcard(source, tag)) return wait_for_message(wanted, false, probed);
  int count = 0;
  int outcome[2] = {source, tag};
  int error = next_determinant(call, !waits, 2, &count, outcome);
  if (error != MPI_SUCCESS) return raise_on(comm, error);
  if (count == 2) return wait_for_message({outcome[0], outcome[1], comm, waits}, forced_waits_end(), probed);
  if (count == 0) {
    *flag = 0;
    return MPI_SUCCESS;
  }
  error =
      waits ? wait_for_message(wanted, false, probed) : find_message(wanted, flag, &probed->is_in_log, &probed->status);
  if (error != MPI_SUCCESS) return error;
  outcome[0] = probed->status.MPI_SOURCE;
  outcome[1] = probed->status.MPI_TAG;
  if (*flag != 0) note_found(outcome[0], outcome[1], comm, 0);
  note_determinant(call, *flag != 0 ? 2 : 0, outcome);
  return MPI_SUCCESS;
}

void give_status(const Probed& probed, MPI_Status* status) {
  if (status == MPI_STATUS_IGNORE) return;
  const int kept = status->MPI_ERROR;
  *status = probed.status;
  status->MPI_ERROR = kept;
}

/// Takes the message that a probe has found.
int take(const Probed& probed, MPI_Comm comm, MPI_Message* message) {
  const RepeatableCall call;
  Matched taken;
  taken.receive = {{nullptr, 0, MPI_BYTE, probed.status.MPI_SOURCE, probed.status.MPI_TAG, comm}};
  taken.receive.was_probed = true;
  taken.repairs = registry().repairs;
  int error = begin_receive(&taken.receive);
  if (error != MPI_SUCCESS) return error;
  int is_there = 0;
  if (!probed.is_in_log && registry().repairs == taken.repairs) {
    error = real.Improbe(taken.receive.source, taken.receive.tag, now(comm), &is_there, message, MPI_STATUS_IGNORE);
    if (error != MPI_SUCCESS && !tells_of_failure(error)) return error;
  }
  taken.is_in_log = error != MPI_SUCCESS || is_there == 0;
  if (taken.is_in_log) error = make_handle(message);
  if (error != MPI_SUCCESS) return error;
  const auto lock = lock_stand_ins();
  matched()[*message] = taken;
  return MPI_SUCCESS;
}

int probe_and_take(DeterminantKind call, const ProbeCall& wanted, int* flag, MPI_Message* message, MPI_Status* status) {
  Probed probed;
  int error = probe(call, wanted, flag, &probed);
  if (error != MPI_SUCCESS || *flag == 0) return error;
  error = take(probed, wanted.comm, message);
  if (error == MPI_SUCCESS) give_status(probed, status);
  return error;
}

}  // namespace

bool has_matched_on(MPI_Comm comm) {
  const auto lock = lock_stand_ins();
  return std::any_of(matched().begin(), matched().end(),
                     [comm](const auto& each) { return each.second.receive.comm == comm; });
}

namespace {

/// Removes a message from the table. Returns whether MPI has it.
bool remove(MPI_Message* message, Matched* removed) {
  {
    const auto lock = lock_stand_ins();
    const auto found = matched().find(*message);
    *removed = found->second;
    matched().erase(found);
  }
  if (removed->is_in_log) free_handle(*message);
  return !removed->is_in_log && registry().repairs == removed->repairs;
}

}  // namespace

int logged_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  if (source == MPI_PROC_NULL) return real.Probe(source, tag, MPI_COMM_SELF, status);
  Probed probed;
  int flag = 0;
  const int error = probe(DeterminantKind::probe, {source, tag, comm, true}, &flag, &probed);
  if (error == MPI_SUCCESS) give_status(probed, status);
  return error;
}

int logged_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  if (source == MPI_PROC_NULL) return real.Iprobe(source, tag, MPI_COMM_SELF, flag, status);
  Probed probed;
  const int error = probe(DeterminantKind::iprobe, {source, tag, comm, false}, flag, &probed);
  if (error == MPI_SUCCESS && *flag != 0) give_status(probed, status);
  return error;
}

int logged_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  if (source == MPI_PROC_NULL) return real.Mprobe(source, tag, MPI_COMM_SELF, message, status);
  int flag = 0;
  return probe_and_take(DeterminantKind::mprobe, {source, tag, comm, true}, &flag, message, status);
}

int logged_Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status) {
  if (source == MPI_PROC_NULL) return real.Improbe(source, tag, MPI_COMM_SELF, flag, message, status);
  return probe_and_take(DeterminantKind::improbe, {source, tag, comm, false}, flag, message, status);
}

bool is_logged_message(MPI_Message message) {
  const auto lock = lock_stand_ins();
  return matched().count(message) > 0;
}

int receive_logged_message(void* buf, int count, MPI_Datatype type, MPI_Message* message, MPI_Status* status) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int error = start_logged_message(buf, count, type, message, &request);
  return error != MPI_SUCCESS ? error : with_stand_ins_Wait(&request, status);
}

int start_logged_message(void* buf, int count, MPI_Datatype type, MPI_Message* message, MPI_Request* request) {
  Matched removed;
  MPI_Request inner = MPI_REQUEST_NULL;
  if (remove(message, &removed)) {
    const RepeatableCall call;
    const int error = real.Imrecv(buf, count, type, message, &inner);
    if (error != MPI_SUCCESS && !tells_of_failure(error)) return error;
    if (error != MPI_SUCCESS) inner = MPI_REQUEST_NULL;
  }
  *message = MPI_MESSAGE_NULL;
  LoggedReceive receive = removed.receive;
  receive.buffer = buf;
  receive.count = count;
  receive.type = type;
  return start_probed_receive(receive, inner, removed.repairs, request);
}

}  // namespace fenix_impl
