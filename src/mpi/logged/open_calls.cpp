// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/logged/open_calls.hpp"

#include <algorithm>

#include "mpi/base/stand_in_table.hpp"
#include "mpi/logged/collectives.hpp"
#include "mpi/logged/counted_receives.hpp"
#include "mpi/logged/fast_requests.hpp"
#include "mpi/logged/probes.hpp"
#include "mpi/logged/progress.hpp"

namespace fenix_impl {

bool has_open_calls() {
  make_stand_ins_of_fast_requests();
  progress_logged_calls();
  if (has_counted_receives()) return true;
  const auto lock = lock_stand_ins();
  return std::any_of(stand_in_table().requests.begin(), stand_in_table().requests.end(), [](const auto& each) {
    return each.second.state != StandIn::State::inactive && is_logged_message(each.second);
  });
}

bool has_open_calls_on(MPI_Comm comm) {
  if (has_counted_receives() || has_fast_receives_on(comm) || has_matched_on(comm)) return true;
  const auto lock = lock_stand_ins();
  return std::any_of(stand_in_table().requests.begin(), stand_in_table().requests.end(), [comm](const auto& each) {
    const StandIn& one = each.second;
    return one.queued.receive.comm == comm || one.queued.wanted.comm == comm || one.send.comm == comm ||
           one.receive.comm == comm || one.collective.comm == comm;
  });
}

MPI_Request freed_receive_on(MPI_Comm comm) {
  const auto lock = lock_stand_ins();
  for (const auto& [request, one] : stand_in_table().requests) {
    if (one.is_freed && one.state == StandIn::State::pending && one.queued.wanted.comm == comm) return request;
  }
  return MPI_REQUEST_NULL;
}

void forget_logged_calls() {
  make_stand_ins_of_fast_requests();
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

}  // namespace fenix_impl
