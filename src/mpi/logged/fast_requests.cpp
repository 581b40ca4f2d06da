// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/logged/fast_requests.hpp"

#include <algorithm>

#include "mpi/base/derived.hpp"
#include "mpi/base/stand_in_table.hpp"

namespace fenix_impl {
namespace {

void make_stand_in(FastRequest* request) {
  StandIn stand_in;
  stand_in.kind = request->is_send ? StandIn::Kind::started_send : StandIn::Kind::logged_receive;
  stand_in.state = StandIn::State::pending;
  stand_in.is_used_once = true;
  stand_in.inner = request->inner;
  if (request->is_send) stand_in.send = request->send;
  stand_in.sent = request->sent;
  stand_in.repairs = stand_in.queued.begun_after = request->repairs;
  if (!request->is_send) {
    stand_in.queued.receive = stand_in.queued.wanted = request->receive;
    stand_in.queued.order = request->order;
  }
  const MPI_Request handle = request->handle;
  fast_requests().give_up(request);
  add_stand_in(handle, stand_in);
}

}  // namespace

FastRequests& fast_requests() {
  static auto* instance = new FastRequests;
  return *instance;
}

int FastRequests::make_handle(MPI_Request* handle) { return make_request(handle); }

bool has_fast_receives_on(MPI_Comm comm) {
  for (const FastRequest* each : fast_requests().used()) {
    if (!each->is_send && each->receive.comm == comm) return true;
  }
  return false;
}

bool uses_type_in_fast_requests(MPI_Datatype type) {
  const auto& used = fast_requests().used();
  return std::any_of(used.begin(), used.end(),
                     [type](const FastRequest* each) { return !each->is_send && each->receive.type == type; });
}

void make_stand_ins_of_fast_requests() {
  while (!fast_requests().empty()) make_stand_in(fast_requests().used().back());
}

void make_stand_ins_of(int count, const MPI_Request* requests) {
  if (fast_requests().empty()) return;
  for (int i = 0; i < count; ++i) {
    FastRequest* const found = requests[i] != MPI_REQUEST_NULL ? fast_requests().find(requests[i]) : nullptr;
    if (found != nullptr) make_stand_in(found);
  }
}

void make_stand_ins_after_repair() {
  if (fast_requests().empty()) return;
  // All that began later have the number of repairs that there is.
  static unsigned looked_at = 0;
  const unsigned repairs = registry().repairs;
  if (looked_at == repairs) return;
  looked_at = repairs;
  for (std::size_t i = fast_requests().used().size(); i > 0; --i) {
    FastRequest* const each = fast_requests().used()[i - 1];
    if (each->repairs != repairs) make_stand_in(each);
  }
}

}  // namespace fenix_impl
