// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/base/stand_in_table.hpp"

#include <algorithm>

#include "mpi/base/real.hpp"

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

// Arrays of types belong to the program: it may have freed those of an inactive request.
bool uses_type_in_stand_ins(MPI_Datatype type) {
  const auto& requests = stand_in_table().requests;
  return std::any_of(requests.begin(), requests.end(), [type](const auto& each) {
    const StandIn& one = each.second;
    const Collective& call = one.collective;
    return one.receive.type == type || one.send.type == type || one.queued.receive.type == type ||
           one.queued.wanted.type == type || call.send.type == type || call.receive.type == type ||
           call.send.types != nullptr || call.receive.types != nullptr;
  });
}

bool uses_operation_in_stand_ins(MPI_Op op) {
  const auto& requests = stand_in_table().requests;
  return std::any_of(requests.begin(), requests.end(), [op](const auto& each) {
    return each.second.state == StandIn::State::pending && each.second.collective.op == op;
  });
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
    stand_in_table().unmatched.erase(found->second.queued.order);
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

int add_done_stand_in(const MPI_Status& status, MPI_Request* request) {
  const int error = make_request(request);
  if (error != MPI_SUCCESS) return error;
  StandIn stand_in;
  stand_in.is_used_once = true;
  add_stand_in(*request, stand_in);
  set_done(*request, MPI_SUCCESS, status);
  return MPI_SUCCESS;
}

// Open MPI's library for Fortran writes into requests of collective functions, which are larger than others. Therefore this is one, and
// not a request that does nothing.
int make_idle_collective(MPI_Request* request) {
  static char from = 0;
  static char to = 0;
  return real.Allgather_init(&from, 1, MPI_BYTE, &to, 1, MPI_BYTE, MPI_COMM_SELF, MPI_INFO_NULL, request);
}

}  // namespace fenix_impl
