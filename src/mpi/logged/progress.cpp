// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/logged/progress.hpp"

#include <atomic>
#include <sched.h>

#include "mpi/base/derived.hpp"
#include "mpi/base/log_scope.hpp"
#include "mpi/base/real.hpp"
#include "mpi/base/stand_in_table.hpp"
#include "mpi/logged/collectives.hpp"
#include "mpi/logged/counted_receives.hpp"
#include "mpi/logged/fast_requests.hpp"
#include "mpi/logged/receive_queue.hpp"

namespace fenix_impl {
namespace {

/// Asks MPI to cancel the receive of a request. Returns whether it has no message.
bool cancel_inner(MPI_Request* inner, int* error, MPI_Status* status) {
  const RepeatableCall call;
  int is_cancelled = 0;
  *error = real.Cancel(inner);
  if (*error == MPI_SUCCESS) *error = real.Wait(inner, status);
  if (*error == MPI_SUCCESS) PMPI_Test_cancelled(status, &is_cancelled);
  return is_cancelled != 0;
}

void set_cancelled(MPI_Request request) {
  {
    const auto lock = lock_stand_ins();
    stand_in_table().requests.at(request).is_cancelled = true;
  }
  set_done(request, MPI_SUCCESS, {});
}

}  // namespace

void look_for_earlier_receives() {
  make_stand_ins_after_repair();
  if (stand_ins.load(std::memory_order_acquire) == 0) return;
  progress_logged_collectives();
  look_for_all_receives();
}

bool calls_need_progress() {
  make_stand_ins_after_repair();
  if (stand_ins.load(std::memory_order_acquire) == 0) return false;
  if (has_logged_collectives()) return true;
  return receives_need_progress();
}

bool progress_logged_calls() {
  make_stand_ins_after_repair();
  if (stand_ins.load(std::memory_order_acquire) == 0) return false;
  progress_logged_collectives();
  begin_earlier_receives();
  if (stand_in_table().freed > 0) look_for_freed_receives();
  return calls_need_progress();
}

int wait_and_go_on(MPI_Request* request) {
  constexpr unsigned kLooksAtOnce = 16;
  for (unsigned looks = 1; calls_need_progress(); ++looks) {
    int flag = 0;
    const int error = real.Test(request, &flag, MPI_STATUS_IGNORE);
    if (error != MPI_SUCCESS || flag != 0) return error;
    progress_logged_calls();
    if (looks % kLooksAtOnce == 0) sched_yield();
  }
  return real.Wait(request, MPI_STATUS_IGNORE);
}

void look_for_receive(MPI_Request request) { look_for_receive_in_turn(request); }

int cancel_logged_receive(MPI_Request request) {
  look_for_earlier_receives();
  auto stand_in = find_stand_in(request);
  const LoggedReceive& receive = stand_in->queued.receive;
  if (stand_in->state != StandIn::State::pending || receive.was_probed) return MPI_SUCCESS;
  if (!receive.will_be_cancelled && receive.number != 0) {
    int error = MPI_SUCCESS;
    MPI_Status status{};
    const bool is_cancelled = cancel_inner(&stand_in->inner, &error, &status);
    update_receive(request, receive, MPI_REQUEST_NULL, stand_in->repairs);
    // After a repair its message is in a log, or has not been sent.
    if (tells_of_failure(error)) return cancel_logged_receive(request);
    if (!is_cancelled || error != MPI_SUCCESS) {
      set_done(request, error, status);
      return MPI_SUCCESS;
    }
    give_number_back(receive);
  }
  if (!receive.will_be_cancelled) {
    const int error = note_match(receive.receive, MPI_PROC_NULL, kTagOfCancelled);
    if (error != MPI_SUCCESS) return error;
  }
  set_cancelled(request);
  return MPI_SUCCESS;
}

int run_logged_collective(const Collective& call) {
  // Other ranks may wait for other calls of this one before they come to the operation.
  return run_collective(call, [] { (void)progress_logged_calls(); });
}

}  // namespace fenix_impl
