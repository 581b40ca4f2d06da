// SPDX-License-Identifier: BSD-3-Clause
// Calls of the program that start and complete requests, when there are stand-ins.
// No function here that calls libfenix has an object with a destructor meanwhile: control may leave by longjmp.
#include "mpi/calls/completions.hpp"

#include <fenix_mpi/persistent.h>
#include <sched.h>

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <vector>

#include "base/of_thread.hpp"
#include "mpi/base/derived.hpp"
#include "mpi/base/libfenix.hpp"
#include "mpi/base/log_scope.hpp"
#include "mpi/base/real.hpp"
#include "mpi/base/stand_in_table.hpp"
#include "mpi/calls/stand_ins.hpp"
#include "mpi/logged/collectives.hpp"
#include "mpi/logged/counted_receives.hpp"
#include "mpi/logged/fast_calls.hpp"
#include "mpi/logged/fast_requests.hpp"
#include "mpi/logged/outcomes.hpp"
#include "mpi/logged/progress.hpp"
#include "mpi/logged/receive_queue.hpp"
#include "mpi/logged/receive_start.hpp"
#include "mpi/logged/sends.hpp"
#include "mpi/persistent/collectives.hpp"

namespace fenix_impl {
namespace {

bool is_collective(const StandIn& stand_in) {
  return stand_in.kind == StandIn::Kind::collective || stand_in.kind == StandIn::Kind::logged_collective;
}

bool stand_ins_are_there() { return stand_ins.load(std::memory_order_acquire) != 0; }

void set_pending(MPI_Request request) {
  const auto lock = lock_stand_ins();
  StandIn& started = stand_in_table().requests.at(request);
  started.state = StandIn::State::pending;
  started.is_cancelled = false;
}

/// Gives the program the status of a stand-in whose request MPI has completed. Returns its error.
int finish(MPI_Request completed, MPI_Request* slot, MPI_Status* status) {
  int error = MPI_SUCCESS;
  MPI_Comm comm = MPI_COMM_NULL;
  bool is_used_once = false;
  bool is_kept = false;
  {
    const auto lock = lock_stand_ins();
    const auto found = stand_in_table().requests.find(completed);
    if (found == stand_in_table().requests.end()) return MPI_SUCCESS;
    StandIn& stand_in = found->second;
    if (stand_in.kind == StandIn::Kind::send) return MPI_SUCCESS;
    if (stand_in.state != StandIn::State::done) return MPI_SUCCESS;
    error = stand_in.error;
    comm = stand_in.kind == StandIn::Kind::receive ? stand_in.receive.comm : MPI_COMM_NULL;
    // MPI has given the status of a collective operation already.
    if (status != MPI_STATUS_IGNORE && !is_collective(stand_in)) {
      const int kept = status->MPI_ERROR;
      *status = stand_in.status;
      status->MPI_ERROR = error != MPI_SUCCESS ? error : kept;
      PMPI_Status_set_cancelled(status, stand_in.is_cancelled ? 1 : 0);
    }
    stand_in.state = StandIn::State::inactive;
    is_used_once = stand_in.is_used_once;
    std::vector<MPI_Request>& unused = stand_in_table().unused;
    is_kept = is_used_once && !is_collective(stand_in) && unused.size() < StandInTable::kMostUnused;
    if (is_kept) unused.push_back(completed);
    if (is_used_once) stand_in_table().requests.erase(found);
    count_stand_ins();
  }
  if (is_used_once) {
    MPI_Request used = completed;
    if (!is_kept) (void)real.Request_free(&used);
    *slot = MPI_REQUEST_NULL;
  }
  return comm != MPI_COMM_NULL ? raise_on(comm, error) : error;
}

MPI_Status* at(MPI_Status* statuses, int index) {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses + index;
}

/// Memory for handles that is used again: control may leave by longjmp.
std::vector<MPI_Request>& copies_of(int count, const MPI_Request* requests) {
  auto& copies = of_thread<std::vector<MPI_Request>>();
  copies.assign(requests, requests + std::max(count, 0));
  return copies;
}

bool some_are_pending(int count, const MPI_Request* requests) {
  return std::any_of(requests, requests + std::max(count, 0), is_pending);
}

void look_for_all(int count, const MPI_Request* requests) {
  progress_logged_calls();
  for (int i = 0; i < count; ++i) look_for(requests[i]);
}

/// Finishes the requests of completed stand-ins. Returns the first error.
int finish_all(int count, const std::vector<MPI_Request>& before, MPI_Request* requests, MPI_Status* statuses) {
  int error = MPI_SUCCESS;
  for (int i = 0; i < count; ++i) {
    const int of_one = finish(before[static_cast<std::size_t>(i)], requests + i, at(statuses, i));
    if (error == MPI_SUCCESS) error = of_one;
  }
  return error;
}

/// Finishes the stand-ins among some that MPI has completed, by their indices.
int finish_some(int outcount, const int* indices, const std::vector<MPI_Request>& before, MPI_Request* requests,
                MPI_Status* statuses) {
  int error = MPI_SUCCESS;
  for (int i = 0; i < outcount; ++i) {
    const int of_one = finish(before[static_cast<std::size_t>(indices[i])], requests + indices[i], at(statuses, i));
    if (error == MPI_SUCCESS) error = of_one;
  }
  return error;
}

/// Returns the error of a call whose statuses have this one. Control may leave it after a failure, as FENIX_RESUME_MODE says.
int in_status(int error) {
  if (error == MPI_SUCCESS) return MPI_SUCCESS;
  leave_logged(error);
  return MPI_ERR_IN_STATUS;
}

/// Called while nothing that the program waits for is there. since: when the wait began.
int check_wait(double since, int count, const MPI_Request* requests) {
  sched_yield();
  // Requests of MPI have all the time that they need.
  const bool others = std::any_of(requests, requests + count, [](MPI_Request each) {
    if (each == MPI_REQUEST_NULL) return false;
    const auto stand_in = find_stand_in(each);
    return !stand_in || stand_in->kind != StandIn::Kind::receive;
  });
  return look_at_wait(others ? PMPI_Wtime() : since);
}

int start_collective(MPI_Request request, StandIn stand_in) {
  if (stand_in.state != StandIn::State::inactive) return raise_on(stand_in.collective.comm, MPI_ERR_REQUEST);
  if (stand_in.kind == StandIn::Kind::logged_collective) {
    set_pending(request);
    return restart_logged_collective(stand_in.collective, request);
  }
  int executes = 0;
  int error = do_collective(stand_in.collective, &executes);
  if (error != MPI_SUCCESS) return error;
  if (executes == 0) {
    set_done(request, MPI_SUCCESS, {});
    return MPI_SUCCESS;
  }
  if (stand_in.inner == MPI_REQUEST_NULL) error = stand_in.init(stand_in.collective, MPI_INFO_NULL, &stand_in.inner);
  if (error == MPI_SUCCESS) error = real.Start(&stand_in.inner);
  const auto lock = lock_stand_ins();
  StandIn& started = stand_in_table().requests.at(request);
  started.inner = stand_in.inner;
  if (error == MPI_SUCCESS) started.state = StandIn::State::pending;
  return error;
}

/// Starts a persistent request for a logged message once more.
int start_logged_again(MPI_Request request, const StandIn& stand_in) {
  if (stand_in.state != StandIn::State::inactive) return raise_on(stand_in.send.comm, MPI_ERR_REQUEST);
  Started begun;
  const int error = begin_logged_send(stand_in.send, &begun);
  if (error != MPI_SUCCESS) return error;
  {
    const auto lock = lock_stand_ins();
    StandIn& started = stand_in_table().requests.at(request);
    started.inner = begun.inner;
    started.sent = begun.number;
    started.repairs = registry().repairs;
    started.state = StandIn::State::pending;
  }
  if (has_ended(begun)) set_done(request, MPI_SUCCESS, {});
  return MPI_SUCCESS;
}

}  // namespace

int test(MPI_Request* request, int* flag, MPI_Status* status) {
  const MPI_Request before = *request;
  progress_logged_calls();
  if (is_counted_receive(before)) {
    const int error = real.Test(request, flag, status);
    forget_completed_receives(1, &before, request);
    return error;
  }
  look_for(before);
  if (is_pending(before)) {
    *flag = 0;
    return MPI_SUCCESS;
  }
  const int error = real.Test(request, flag, status);
  return error != MPI_SUCCESS || *flag == 0 ? error : finish(before, request, status);
}

int test_all(int count, MPI_Request array_of_requests[], int* flag, MPI_Status array_of_statuses[]) {
  look_for_all(count, array_of_requests);
  if (some_are_pending(count, array_of_requests)) {
    *flag = 0;
    return MPI_SUCCESS;
  }
  const std::vector<MPI_Request>& before = copies_of(count, array_of_requests);
  const int error = real.Testall(count, array_of_requests, flag, array_of_statuses);
  forget_completed_receives(count, before.data(), array_of_requests);
  if (error != MPI_SUCCESS || *flag == 0) return error;
  return in_status(finish_all(count, before, array_of_requests, array_of_statuses));
}

int test_any(int count, MPI_Request array_of_requests[], int* index, int* flag, MPI_Status* status) {
  look_for_all(count, array_of_requests);
  const bool pending = some_are_pending(count, array_of_requests);
  const std::vector<MPI_Request>& before = copies_of(count, array_of_requests);
  const int error = real.Testany(count, array_of_requests, index, flag, status);
  forget_completed_receives(count, before.data(), array_of_requests);
  if (error != MPI_SUCCESS || *flag == 0) return error;
  if (*index == MPI_UNDEFINED) {
    // MPI takes those that are pending for inactive.
    if (pending) *flag = 0;
    return MPI_SUCCESS;
  }
  return finish(before[static_cast<std::size_t>(*index)], array_of_requests + *index, status);
}

int wait_any(int count, MPI_Request array_of_requests[], int* index, MPI_Status* status) {
  int flag = 0;
  for (const double since = PMPI_Wtime();;) {
    const int error = test_any(count, array_of_requests, index, &flag, status);
    if (error != MPI_SUCCESS || flag != 0) return error;
    if (const int due = check_wait(since, count, array_of_requests); due != MPI_SUCCESS) return due;
  }
}

int test_some(int incount, MPI_Request array_of_requests[], int* outcount, int array_of_indices[],
              MPI_Status array_of_statuses[]) {
  look_for_all(incount, array_of_requests);
  const bool pending = some_are_pending(incount, array_of_requests);
  const std::vector<MPI_Request>& before = copies_of(incount, array_of_requests);
  const int error = real.Testsome(incount, array_of_requests, outcount, array_of_indices, array_of_statuses);
  forget_completed_receives(incount, before.data(), array_of_requests);
  if (error != MPI_SUCCESS) return error;
  if (*outcount == MPI_UNDEFINED) {
    if (pending) *outcount = 0;
    return MPI_SUCCESS;
  }
  return in_status(finish_some(*outcount, array_of_indices, before, array_of_requests, array_of_statuses));
}

int wait_some(int incount, MPI_Request array_of_requests[], int* outcount, int array_of_indices[],
              MPI_Status array_of_statuses[]) {
  for (const double since = PMPI_Wtime();;) {
    const int error = test_some(incount, array_of_requests, outcount, array_of_indices, array_of_statuses);
    if (error != MPI_SUCCESS || *outcount != 0) return error;
    if (const int due = check_wait(since, incount, array_of_requests); due != MPI_SUCCESS) return due;
  }
}

int get_status(MPI_Request request, int* flag, MPI_Status* status) {
  progress_logged_calls();
  look_for(request);
  const auto stand_in = find_stand_in(request);
  if (!stand_in || stand_in->kind == StandIn::Kind::send || stand_in->state == StandIn::State::inactive) {
    return real.Request_get_status(request, flag, status);
  }
  *flag = stand_in->state == StandIn::State::done ? 1 : 0;
  if (*flag == 0 || status == MPI_STATUS_IGNORE) return MPI_SUCCESS;
  // MPI leaves this field as it is.
  const int kept = status->MPI_ERROR;
  *status = stand_in->status;
  status->MPI_ERROR = kept;
  PMPI_Status_set_cancelled(status, stand_in->is_cancelled ? 1 : 0);
  return MPI_SUCCESS;
}

int with_stand_ins_Start(MPI_Request* request) {
  const auto stand_in = find_stand_in(*request);
  if (!stand_in) return real.Start(request);
  if (stand_in->kind == StandIn::Kind::send) {
    const Send& send = stand_in->send;
    const int error = call_libfenix([&](const PersistServices& libfenix) { return libfenix.store(send); });
    return error != MPI_SUCCESS ? raise_on(send.comm, error) : real.Start(request);
  }
  if (stand_in->kind == StandIn::Kind::logged_send) return start_logged_again(*request, *stand_in);
  if (stand_in->kind == StandIn::Kind::logged_receive) {
    if (stand_in->state != StandIn::State::inactive) return raise_on(stand_in->queued.wanted.comm, MPI_ERR_REQUEST);
    return begin_logged_receive(*request);
  }
  if (is_collective(*stand_in)) return start_collective(*request, *stand_in);
  if (stand_in->state != StandIn::State::inactive) return raise_on(stand_in->receive.comm, MPI_ERR_REQUEST);
  set_pending(*request);
  look_for(*request);
  return MPI_SUCCESS;
}

int with_stand_ins_Startall(int count, MPI_Request array_of_requests[]) {
  for (int i = 0; i < count; ++i) {
    const int error = with_stand_ins_Start(array_of_requests + i);
    if (error != MPI_SUCCESS) return error;
  }
  return MPI_SUCCESS;
}

int with_stand_ins_Wait(MPI_Request* request, MPI_Status* status) {
  int fast = MPI_SUCCESS;
  if (wait_fast(request, status, &fast)) return fast;
  make_stand_ins_of(1, request);
  const MPI_Request before = *request;
  const bool are_there = stand_ins_are_there();
  if (are_there) wait_for(before);
  const int error = real.Wait(request, status);
  forget_completed_receives(1, &before, request);
  return error != MPI_SUCCESS || !are_there ? error : finish(before, request, status);
}

int with_stand_ins_Waitall(int count, MPI_Request array_of_requests[], MPI_Status* array_of_statuses) {
  int fast = MPI_SUCCESS;
  if (wait_fast_for_all(count, array_of_requests, array_of_statuses, &fast)) return fast;
  make_stand_ins_of(count, array_of_requests);
  const bool are_there = stand_ins_are_there();
  for (int i = 0; are_there && i < count; ++i) wait_for(array_of_requests[i]);
  const std::vector<MPI_Request>& before = copies_of(count, array_of_requests);
  const int error = real.Waitall(count, array_of_requests, array_of_statuses);
  forget_completed_receives(count, before.data(), array_of_requests);
  if (error != MPI_SUCCESS || !are_there) return error;
  return in_status(finish_all(count, before, array_of_requests, array_of_statuses));
}

int with_stand_ins_Request_free(MPI_Request* request) {
  make_stand_ins_of(1, request);
  forget_counted_receive(*request);
  const auto freed = find_stand_in(*request);
  if (!freed) return real.Request_free(request);
  const bool is_pending = freed->state == StandIn::State::pending;
  if (is_pending && freed->kind == StandIn::Kind::logged_collective) {
    return raise_on(freed->collective.comm, MPI_ERR_REQUEST);
  }
  {
    const auto lock = lock_stand_ins();
    StandIn& stand_in = stand_in_table().requests.at(*request);
    if (is_pending && stand_in.kind == StandIn::Kind::logged_receive) {
      // The program gets its message all the same.
      stand_in.is_used_once = stand_in.is_freed = true;
      ++stand_in_table().freed;
      *request = MPI_REQUEST_NULL;
      return MPI_SUCCESS;
    }
    const bool is_of_mpi = stand_in.kind == StandIn::Kind::collective || is_send_of_mpi(stand_in);
    if (is_of_mpi && stand_in.inner != MPI_REQUEST_NULL) (void)real.Request_free(&stand_in.inner);
    stand_in_table().requests.erase(*request);
    count_stand_ins();
  }
  return real.Request_free(request);
}

int with_stand_ins_Cancel(MPI_Request* request) {
  make_stand_ins_of_fast_requests();
  if (is_counted_receive(*request)) return cancel_counted_receive(request);
  const auto stand_in = find_stand_in(*request);
  if (!stand_in) return real.Cancel(request);
  if (is_collective(*stand_in)) return raise_on(stand_in->collective.comm, MPI_ERR_REQUEST);
  if (stand_in->kind == StandIn::Kind::logged_receive) return cancel_logged_receive(*request);
  const bool is_logged = stand_in->kind == StandIn::Kind::logged_send || stand_in->kind == StandIn::Kind::started_send;
  if (is_logged || stand_in->state != StandIn::State::pending) return MPI_SUCCESS;
  {
    const auto lock = lock_stand_ins();
    stand_in_table().requests.at(*request).is_cancelled = true;
  }
  set_done(*request, MPI_SUCCESS, {});
  return MPI_SUCCESS;
}

}  // namespace fenix_impl
