// SPDX-License-Identifier: BSD-3-Clause
// No function here that calls libfenix has an object with a destructor meanwhile: control may leave by longjmp.
#include "mpi/stand_ins.hpp"

#include <sched.h>
#include <mpi-ext.h>

#include <algorithm>

#include "mpi/counted_receives.hpp"
#include "mpi/derived.hpp"
#include "mpi/logged_collectives.hpp"
#include "mpi/logged_receives.hpp"
#include "mpi/persistent.hpp"
#include "mpi/real.hpp"
#include "mpi/stand_in_table.hpp"

namespace fenix_impl {

int make_request(MPI_Request* request) {
  {
    const auto lock = lock_stand_ins();
    std::vector<MPI_Request>& unused = stand_in_table().unused;
    if (!unused.empty()) {
      *request = unused.back();
      unused.pop_back();
      return MPI_SUCCESS;
    }
  }
  return real.Recv_init(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, request);
}

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
};

/// Looks whether MPI has sent the message of a stand-in. After a failure its receiver has it, or gets it from the log; the program is told where
/// its calls do not go on.
void look_for_sent(MPI_Request request, const Sending& sent) {
  MPI_Request inner = sent.inner;
  int flag = 1;
  int error = MPIX_ERR_REVOKED;
  if (sent.repairs != registry().repairs) {
    drain(&inner);
  } else {
    const GoingOn call;
    error = real.Test(&inner, &flag, MPI_STATUS_IGNORE);
  }
  if (tells_of_failure(error)) {
    flag = 1;
    if (repeats_calls()) error = MPI_SUCCESS;
  }
  if (error != MPI_SUCCESS || flag != 0) set_done(request, error, {});
}

bool is_logged_message(const StandIn& stand_in) {
  using Kind = StandIn::Kind;
  return stand_in.kind == Kind::logged_receive || stand_in.kind == Kind::logged_collective;
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
  Receive wanted;
  StandIn::Kind kind{};
  Sending sent;
  {
    const auto lock = lock_stand_ins();
    const auto found = stand_in_table().requests.find(request);
    if (found == stand_in_table().requests.end() || found->second.state != StandIn::State::pending) return;
    const StandIn& stand_in = found->second;
    kind = stand_in.kind;
    sent = {stand_in.inner, stand_in.repairs};
    wanted = stand_in.receive;
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
  int flag = 0;
  MPI_Status status{};
  const int error = call_libfenix([&](const PersistServices& libfenix) {
    return libfenix.receive(wanted.buffer, wanted.count, wanted.type, wanted.source, wanted.tag, wanted.comm,
                            /*waits=*/false, &flag, &status);
  });
  if (error != MPI_SUCCESS || flag != 0) set_done(request, error, status);
}

void wait_for(MPI_Request request) {
  Receive wanted;
  {
    const auto stand_in = find_stand_in(request);
    if (!stand_in) return go_on_until_complete(request);
    if (stand_in->state != StandIn::State::pending) return;
    // Others may wait for a message that comes from another call of this process.
    const bool needs_looks = is_logged_message(*stand_in) || is_send_of_mpi(*stand_in);
    look_while(request, [needs_looks] { return needs_looks || calls_need_progress(); });
    if (!is_pending(request)) return;
    if (stand_in->kind == StandIn::Kind::collective) return look_for_collective(request, stand_in->inner, true);
    wanted = stand_in->receive;
  }
  int flag = 0;
  MPI_Status status{};
  const int error = call_libfenix([&](const PersistServices& libfenix) {
    return libfenix.receive(wanted.buffer, wanted.count, wanted.type, wanted.source, wanted.tag, wanted.comm,
                            /*waits=*/true, &flag, &status);
  });
  set_done(request, error, status);
}

int add_done_stand_in(const MPI_Status& status, MPI_Request* request) {
  const int error = make_request(request);
  if (error != MPI_SUCCESS) return error;
  StandIn stand_in;
  stand_in.is_used_once = true;
  add_stand_in(*request, stand_in);
  set_done(*request, MPI_SUCCESS, status);
  return MPI_SUCCESS;
}

int start_receive(const Receive& receive, MPI_Request* request) {
  const int error = make_request(request);
  if (error != MPI_SUCCESS) return error;
  StandIn stand_in;
  stand_in.is_used_once = true;
  stand_in.receive = receive;
  stand_in.state = StandIn::State::pending;
  add_stand_in(*request, stand_in);
  look_for(*request);
  return MPI_SUCCESS;
}

bool has_open_calls() {
  progress_logged_calls();
  if (has_counted_receives()) return true;
  const auto lock = lock_stand_ins();
  return std::any_of(stand_in_table().requests.begin(), stand_in_table().requests.end(), [](const auto& each) {
    return each.second.state != StandIn::State::inactive && is_logged_message(each.second);
  });
}

void forget_logged_calls() {
  forget_logged_collectives();
  forget_counted_receives();
  const auto lock = lock_stand_ins();
  auto& requests = stand_in_table().requests;
  stand_in_table().unmatched.clear();
  for (auto each = requests.begin(); each != requests.end();) {
    StandIn& stand_in = each->second;
    const bool is_logged = is_logged_message(stand_in) || is_send_of_mpi(stand_in);
    const bool is_forgotten = is_logged && stand_in.state == StandIn::State::pending;
    if (is_forgotten && stand_in.is_used_once) {
      if (stand_in.is_freed) --stand_in_table().freed;
      each = requests.erase(each);
      continue;
    }
    if (is_forgotten) {
      // It can be started again.
      stand_in.state = StandIn::State::inactive;
      stand_in.inner = MPI_REQUEST_NULL;
    }
    ++each;
  }
  count_stand_ins();
}

int init_receive(const Receive& receive, MPI_Request* request) {
  const int error = make_request(request);
  if (error != MPI_SUCCESS) return error;
  StandIn stand_in;
  stand_in.receive = receive;
  add_stand_in(*request, stand_in);
  return MPI_SUCCESS;
}

void add_send_stand_in(MPI_Request request, const Send& send) {
  StandIn stand_in;
  stand_in.kind = StandIn::Kind::send;
  stand_in.send = send;
  add_stand_in(request, stand_in);
}

void add_logged_send(MPI_Request request, const Send& send) {
  StandIn stand_in;
  stand_in.kind = StandIn::Kind::logged_send;
  stand_in.send = send;
  add_stand_in(request, stand_in);
}

int add_started_send(MPI_Request inner, MPI_Request* request) {
  StandIn stand_in;
  stand_in.kind = StandIn::Kind::started_send;
  stand_in.is_used_once = true;
  stand_in.inner = inner;
  stand_in.repairs = registry().repairs;
  const int error = make_request(request);
  if (error != MPI_SUCCESS) return error;
  stand_in.state = StandIn::State::pending;
  add_stand_in(*request, stand_in);
  if (inner == MPI_REQUEST_NULL) set_done(*request, MPI_SUCCESS, {});
  return MPI_SUCCESS;
}

namespace {

// Open MPI's library for Fortran writes into requests of collective functions, which are larger than others. Therefore this is one, and
// not a request that does nothing.
int make_idle_collective(MPI_Request* request) {
  static char from = 0;
  static char to = 0;
  return real.Allgather_init(&from, 1, MPI_BYTE, &to, 1, MPI_BYTE, MPI_COMM_SELF, MPI_INFO_NULL, request);
}

}  // namespace

int add_done_collective(MPI_Request* request) {
  const int error = make_idle_collective(request);
  if (error != MPI_SUCCESS) return error;
  StandIn stand_in;
  stand_in.kind = StandIn::Kind::collective;
  stand_in.is_used_once = true;
  add_stand_in(*request, stand_in);
  set_done(*request, MPI_SUCCESS, {});
  return MPI_SUCCESS;
}

int make_logged_collective(const Collective& call, bool is_used_once, MPI_Request* request) {
  const int error = make_idle_collective(request);
  if (error != MPI_SUCCESS) return error;
  StandIn stand_in;
  stand_in.kind = StandIn::Kind::logged_collective;
  stand_in.is_used_once = is_used_once;
  stand_in.collective = call;
  if (is_used_once) stand_in.state = StandIn::State::pending;
  add_stand_in(*request, stand_in);
  return MPI_SUCCESS;
}

int init_collective(const Collective& call, InitFunction* init, MPI_Info info, MPI_Request* request) {
  int error = make_idle_collective(request);
  if (error != MPI_SUCCESS) return error;
  StandIn stand_in;
  stand_in.kind = StandIn::Kind::collective;
  stand_in.collective = call;
  stand_in.init = init;
  // A process that has failed makes the inner request only if it needs it: others may not be making one.
  if (delivers(call.comm) && !persist_services()->has_failed()) {
    error = init(stand_in.collective, info, &stand_in.inner);
  }
  add_stand_in(*request, stand_in);
  if (error != MPI_SUCCESS) with_stand_ins_Request_free(request);
  return error;
}

}  // namespace fenix_impl
