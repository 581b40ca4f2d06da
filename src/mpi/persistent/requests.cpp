// SPDX-License-Identifier: BSD-3-Clause
// No function here that calls libfenix has an object with a destructor meanwhile: control may leave by longjmp.
#include "mpi/persistent/requests.hpp"

#include <fenix_mpi/persistent.h>

#include "mpi/base/libfenix.hpp"
#include "mpi/base/persistent_table.hpp"
#include "mpi/base/real.hpp"

namespace fenix_impl {

void look_for_stored(MPI_Request request, bool waits) {
  const auto stand_in = find_stand_in(request);
  if (!stand_in || stand_in->state != StandIn::State::pending) return;
  const ReceiveCall wanted = stand_in->receive;
  int flag = 0;
  MPI_Status status{};
  const int error =
      call_libfenix([&](const PersistServices& libfenix) { return libfenix.receive(wanted, waits, &flag, &status); });
  if (error != MPI_SUCCESS || flag != 0 || waits) set_done(request, error, status);
}

int start_receive(const ReceiveCall& receive, MPI_Request* request) {
  const int error = make_request(request);
  if (error != MPI_SUCCESS) return error;
  StandIn stand_in;
  stand_in.is_used_once = true;
  stand_in.receive = receive;
  stand_in.state = StandIn::State::pending;
  add_stand_in(*request, stand_in);
  look_for_stored(*request, /*waits=*/false);
  return MPI_SUCCESS;
}

int init_receive(const ReceiveCall& receive, MPI_Request* request) {
  const int error = make_request(request);
  if (error != MPI_SUCCESS) return error;
  StandIn stand_in;
  stand_in.receive = receive;
  add_stand_in(*request, stand_in);
  return MPI_SUCCESS;
}

void add_send_stand_in(MPI_Request request, const SendCall& send) {
  StandIn stand_in;
  stand_in.kind = StandIn::Kind::send;
  stand_in.send = {send, nullptr};
  add_stand_in(request, stand_in);
}

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
