// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/logged/receive_start.hpp"

#include <atomic>
#include <mutex>

#include "mpi/base/derived.hpp"
#include "mpi/base/handles.hpp"
#include "mpi/base/stand_in_table.hpp"
#include "mpi/logged/outcomes.hpp"
#include "mpi/logged/receive_queue.hpp"
#include "mpi/logged/receive_step.hpp"

namespace fenix_impl {
namespace {

int add_receive(StandIn stand_in, MPI_Request* request) {
  const int error = make_request(request);
  if (error != MPI_SUCCESS) return error;
  stand_in.kind = StandIn::Kind::logged_receive;
  stand_in.queued.begun_after = registry().repairs;
  add_stand_in(*request, stand_in);
  return MPI_SUCCESS;
}

}  // namespace

std::uint64_t next_order_of_receives() {
  static std::atomic<std::uint64_t> begun{0};
  return ++begun;
}

int start_logged_receive(const LoggedReceive& receive, MPI_Request* request) {
  StandIn stand_in;
  stand_in.is_used_once = true;
  stand_in.queued.receive = receive;
  stand_in.queued.order = next_order_of_receives();
  stand_in.state = StandIn::State::pending;
  const int error = add_receive(stand_in, request);
  if (error != MPI_SUCCESS) return error;
  {
    const auto lock = lock_stand_ins();
    stand_in_table().unmatched.emplace(stand_in.queued.order, *request);
  }
  begin_after_earlier_ones(*request);
  return MPI_SUCCESS;
}

int init_logged_receive(const LoggedReceive& receive, MPI_Request* request) {
  StandIn stand_in;
  stand_in.queued.receive = stand_in.queued.wanted = receive;
  return add_receive(stand_in, request);
}

int start_probed_receive(const LoggedReceive& receive, MPI_Request inner, unsigned repairs, MPI_Request* request) {
  StandIn stand_in;
  stand_in.is_used_once = true;
  stand_in.queued.receive = receive;
  stand_in.inner = inner;
  stand_in.repairs = repairs;
  stand_in.queued.order = next_order_of_receives();
  stand_in.state = StandIn::State::pending;
  const int error = add_receive(stand_in, request);
  // Its message may be in a log.
  if (error == MPI_SUCCESS) begin_with_earlier_ones();
  return error;
}

int begin_logged_receive(MPI_Request request) {
  LoggedReceive receive = find_stand_in(request)->queued.wanted;
  int is_known = 0;
  const int error = call_libfenix([&](const PersistServices& libfenix) {
    return libfenix.next_match(&receive.receive, &receive.source, &receive.tag, &is_known);
  });
  if (error != MPI_SUCCESS) return raise_on(receive.comm, error);
  receive.will_be_cancelled = is_known != 0 && receive.tag == kTagOfCancelled;
  if (is_known != 0 && !receive.will_be_cancelled) {
    if (const int wrong = begin_receive(&receive); wrong != MPI_SUCCESS) return wrong;
  }
  int begun = MPI_SUCCESS;
  const bool has_to_wait = is_wildcard(receive) || receive.will_be_cancelled || has_unmatched_receives();
  if (receive.number == 0 && !has_to_wait) begun = begin_receive(&receive);
  {
    const auto lock = lock_stand_ins();
    StandIn& started = stand_in_table().requests.at(request);
    started.queued.receive = receive;
    started.inner = MPI_REQUEST_NULL;
    started.queued.order = next_order_of_receives();
    started.queued.begun_after = registry().repairs;
    started.is_cancelled = false;
    started.state = StandIn::State::pending;
    const bool has_number = receive.number != 0 || receive.will_be_cancelled || begun != MPI_SUCCESS;
    if (!has_number) stand_in_table().unmatched.emplace(started.queued.order, request);
  }
  if (begun != MPI_SUCCESS) {
    set_done(request, begun, {});
    return MPI_SUCCESS;
  }
  begin_after_earlier_ones(request);
  return MPI_SUCCESS;
}

int start_program_receive(const LoggedReceive& receive, MPI_Request* request) {
  StandIn stand_in;
  stand_in.is_used_once = true;
  stand_in.queued.receive = stand_in.queued.wanted = receive;
  const int error = add_receive(stand_in, request);
  return error != MPI_SUCCESS ? error : begin_logged_receive(*request);
}

}  // namespace fenix_impl
