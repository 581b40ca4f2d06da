// SPDX-License-Identifier: BSD-3-Clause
// No function here that calls libfenix has an object with a destructor meanwhile: control may leave by longjmp.
#include "mpi/calls/stand_ins.hpp"

#include <sched.h>
#include <mpi-ext.h>

#include "mpi/base/derived.hpp"
#include "mpi/base/log_scope.hpp"
#include "mpi/base/real.hpp"
#include "mpi/base/stand_in_table.hpp"
#include "mpi/logged/progress.hpp"
#include "mpi/logged/receive_queue.hpp"
#include "mpi/logged/sends.hpp"
#include "mpi/persistent/requests.hpp"

namespace fenix_impl {
namespace {

constexpr unsigned kLooksAtOnce = 16;

/// Looks whether MPI has executed the collective operation of a stand-in, or waits until it has.
void look_for_collective(MPI_Request request, MPI_Request inner, bool waits) {
  int flag = 1;
  const int error = waits ? real.Wait(&inner, MPI_STATUS_IGNORE) : real.Test(&inner, &flag, MPI_STATUS_IGNORE);
  if (error != MPI_SUCCESS || flag != 0) set_done(request, error, {});
}

/// A request of MPI, and the number of repairs before it was made.
struct Sending {
  MPI_Request inner = MPI_REQUEST_NULL;
  unsigned repairs = 0;
  Send send;
  std::uint64_t number = 0;  // of a synchronous message in the log
};

void forget_inner(MPI_Request request) {
  const auto lock = lock_stand_ins();
  stand_in_table().requests.at(request).inner = MPI_REQUEST_NULL;
}

/// Looks whether the receive of a synchronous message has begun, which the receiver takes from the log.
void look_for_taken(MPI_Request request, const Sending& sent) {
  int flag = 0;
  const int error = look_whether_taken(sent.send, sent.number, &flag);
  if (error != MPI_SUCCESS || flag != 0) set_done(request, error, {});
}

/// Looks whether MPI has sent the message of a stand-in. After a failure its receiver has it, or gets it from the log; the program is told where
/// its calls do not go on.
void look_for_sent(MPI_Request request, const Sending& sent) {
  if (sent.inner == MPI_REQUEST_NULL && sent.number != 0) return look_for_taken(request, sent);
  MPI_Request inner = sent.inner;
  int flag = 1;
  int error = MPIX_ERR_REVOKED;
  if (sent.repairs != registry().repairs) {
    drain(&inner);
  } else {
    const RepeatableCall call;
    error = real.Test(&inner, &flag, MPI_STATUS_IGNORE);
  }
  if (tells_of_failure(error)) {
    const bool goes_on = repeats_calls();
    if (goes_on && sent.number != 0) {
      forget_inner(request);
      return look_for_taken(request, sent);
    }
    flag = 1;
    if (goes_on) error = MPI_SUCCESS;
  }
  if (error != MPI_SUCCESS || flag != 0) set_done(request, error, {});
}

/// Lets other calls of the program go on until a request of MPI is complete, or none of them needs it.
void go_on_until_complete(MPI_Request request) {
  const unsigned repairs = registry().repairs;
  for (unsigned looks = 1; progress_logged_calls(); ++looks) {
    int flag = 0;
    const int error = real.Request_get_status(request, &flag, MPI_STATUS_IGNORE);
    // After a repair, MPI ends the request with an error.
    if (error != MPI_SUCCESS || flag != 0 || registry().repairs != repairs) return;
    if (looks % kLooksAtOnce == 0) sched_yield();
  }
}

/// Looks until the message of a stand-in is there, as long as goes_on says. Lets other processes have the core after some looks in vain.
template <class GoesOn>
void look_while(MPI_Request request, const GoesOn& goes_on) {
  for (unsigned looks = 1; is_pending(request) && goes_on(); ++looks) {
    progress_logged_calls();
    look_for(request);
    if (looks % kLooksAtOnce == 0) sched_yield();
  }
}

}  // namespace

void look_for(MPI_Request request) {
  StandIn::Kind kind{};
  Sending sent;
  {
    const auto lock = lock_stand_ins();
    const auto found = stand_in_table().requests.find(request);
    if (found == stand_in_table().requests.end() || found->second.state != StandIn::State::pending) return;
    const StandIn& stand_in = found->second;
    kind = stand_in.kind;
    sent = {stand_in.inner, stand_in.repairs, stand_in.send, stand_in.sent};
  }
  switch (kind) {
    case StandIn::Kind::logged_receive:
      return look_for_receive(request);
    case StandIn::Kind::logged_collective:
      return;
    case StandIn::Kind::logged_send:
    case StandIn::Kind::started_send:
      return look_for_sent(request, sent);
    case StandIn::Kind::collective:
      return look_for_collective(request, sent.inner, false);
    default:
      break;
  }
  look_for_stored(request, /*waits=*/false);
}

void wait_for(MPI_Request request) {
  {
    const auto stand_in = find_stand_in(request);
    if (!stand_in) return go_on_until_complete(request);
    if (stand_in->state != StandIn::State::pending) return;
    // Others may wait for a message that comes from another call of this process.
    const bool needs_looks = is_logged_message(*stand_in) || is_send_of_mpi(*stand_in);
    look_while(request, [needs_looks] { return needs_looks || calls_need_progress(); });
    if (!is_pending(request)) return;
    if (stand_in->kind == StandIn::Kind::collective) return look_for_collective(request, stand_in->inner, true);
  }
  look_for_stored(request, /*waits=*/true);
}

}  // namespace fenix_impl
