// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/stand_in_table.hpp"

#include "mpi/real.hpp"

namespace fenix_impl {

constinit std::atomic<int> stand_ins{0};

StandInTable& stand_in_table() {
  static auto* instance = new StandInTable;
  return *instance;
}

void count_stand_ins() {
  const StandInTable& table = stand_in_table();
  stand_ins.store(static_cast<int>(table.requests.size() + table.messages), std::memory_order_release);
}

std::optional<StandIn> find_stand_in(MPI_Request request) {
  const auto lock = lock_stand_ins();
  const auto found = stand_in_table().requests.find(request);
  return found != stand_in_table().requests.end() ? std::optional(found->second) : std::nullopt;
}

bool is_pending(MPI_Request request) {
  const auto lock = lock_stand_ins();
  const auto found = stand_in_table().requests.find(request);
  return found != stand_in_table().requests.end() && found->second.state == StandIn::State::pending;
}

void add_stand_in(MPI_Request request, const StandIn& stand_in) {
  const auto lock = lock_stand_ins();
  stand_in_table().requests[request] = stand_in;
  count_stand_ins();
}

void set_done(MPI_Request request, int error, const MPI_Status& status) {
  {
    const auto lock = lock_stand_ins();
    const auto found = stand_in_table().requests.find(request);
    if (found == stand_in_table().requests.end()) return;
    stand_in_table().unmatched.erase(found->second.order);
    if (found->second.is_freed) {
      stand_in_table().requests.erase(found);
      --stand_in_table().freed;
      count_stand_ins();
      (void)real.Request_free(&request);
      return;
    }
    found->second.state = StandIn::State::done;
    found->second.error = error;
    found->second.status = status;
  }
  MPI_Request started = request;
  (void)real.Start(&started);
}

}  // namespace fenix_impl
