// SPDX-License-Identifier: BSD-3-Clause
// Messages between two processes.
#include <algorithm>
#include <cstring>

#include "../cost.hpp"
#include "../tally.hpp"
#include "state.hpp"

namespace fenix_simulation::mpi {
namespace {

constexpr Time kFastestMessage = 300;
constexpr Time kSlowMessage = 30'000;
constexpr Time kSlowestMessage = 2'000'000;
constexpr std::size_t kEager = 4096;  // longer messages wait for their receiver

bool matches(const Message& message, const Request& request) {
  return (request.peer == MPI_ANY_SOURCE || request.peer == message.source) &&
         (request.tag == MPI_ANY_TAG || request.tag == message.tag);
}

Time time_of_message(Member& receiver, Pid from, const Process& to, std::size_t bytes) {
  World& here = world();
  if (machine() != nullptr) {
    Time& last = receiver.last_ready[from];
    last = std::max(last + 1, here.time_here() + machine()->message(self().node == to.node, bytes));
    return last;
  }
  Time takes = here.draw(Kind::network, kFastestMessage, kSlowMessage);
  if (here.draw(Kind::network, 64) == 63) takes = here.draw(Kind::network, kSlowestMessage);
  Time& last = receiver.last_ready[from];
  last = std::max(last + 1, here.now() + takes);
  return last;
}

void complete(Request& request, int error) {
  request.is_complete = true;
  request.error = error;
}

void deliver(Request& request, Message& message) {
  const auto content = message.content();
  const std::size_t bytes = std::min(request.bytes, content.size());
  if (bytes > 0) std::memcpy(request.buffer, content.data(), bytes);
  request.source = message.source;
  request.its_tag = message.tag;
  request.received = bytes;
  world().note(static_cast<std::uint64_t>(message.tag), [&] {
    return "receives a message of rank " + std::to_string(world().find(message.from)->number) + ", tag " +
           std::to_string(message.tag);
  });
  if (message.sender != nullptr) {
    complete(*message.sender, MPI_SUCCESS);
    if (Process* sender = world().find(message.from); sender != nullptr && sender->alive) world().stir(*sender);
  }
  complete(request, content.size() > request.bytes ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
}

/// Gives messages that have arrived to the receives that wait for them, in the order of both.
void match_all(Member& here) {
  const Time now = world().time_here();
  for (auto message = here.inbox.begin(); message != here.inbox.end();) {
    const auto fits = [&](const Request* request) { return matches(*message, *request); };
    const auto posted =
        message->ready > now ? here.posted.end() : std::find_if(here.posted.begin(), here.posted.end(), fits);
    if (posted == here.posted.end()) {
      ++message;
      continue;
    }
    deliver(**posted, *message);
    here.posted.erase(posted);
    message = here.inbox.erase(message);
  }
}

bool is_on_its_way(const Member& here, const Request& request) {
  return std::any_of(here.inbox.begin(), here.inbox.end(), [&](const Message& each) { return matches(each, request); });
}

bool knows_dead_peer(const Comm& comm, int rank) {
  const Process& here = self();
  if (rank >= 0) return World::knows_of(here, comm.peers().at(static_cast<std::size_t>(rank)), world().now());
  const Member& state = comm.of.at(here.pid);
  return std::any_of(here.notices.begin(), here.notices.end(), [&](const auto& each) {
    return each.second <= world().now() && state.acknowledged.count(each.first) == 0 && comm.has(each.first);
  });
}

/// Returns whether the connection to a dead peer breaks before its death is known: Open MPI does not say why then.
bool breaks_early(const Comm& comm, int rank) {
  constexpr Time kSoon = 400'000'000;  // until the death is known
  if (!world().surroundings().open_mpi || rank < 0) return false;
  const auto notice = self().notices.find(comm.peers().at(static_cast<std::size_t>(rank)));
  if (notice == self().notices.end()) return false;
  const Time now = world().now();
  return notice->second > now && notice->second < now + kSoon && world().draw(Kind::race, 16) == 15;
}

/// Returns the error with which a request that is not complete ends now, or MPI_SUCCESS. An error that does not end it is
/// in `pending`.
int error_of(Request& request, int& pending) {
  Comm& comm = *request.comm;
  pending = MPI_SUCCESS;
  if (is_revoked(&comm)) return MPIX_ERR_REVOKED;
  if (breaks_early(comm, request.peer)) return MPI_ERR_OTHER;
  if (request.peer == MPI_PROC_NULL || !knows_dead_peer(comm, request.peer)) return MPI_SUCCESS;
  if (request.form == Request::Form::receive && request.peer == MPI_ANY_SOURCE) {
    pending = MPIX_ERR_PROC_FAILED_PENDING;
    return MPI_SUCCESS;
  }
  // A message of the dead may still arrive, or not.
  if (request.form == Request::Form::receive && is_on_its_way(own(&comm), request) &&
      world().draw(Kind::race, 2) == 0) {
    return MPI_SUCCESS;
  }
  return MPIX_ERR_PROC_FAILED;
}

void withdraw(Request& request) {
  auto& posted = own(request.comm).posted;
  posted.erase(std::remove(posted.begin(), posted.end(), &request), posted.end());
}

// Its buffer, to which the message refers, may go away.
void withdraw_send(Request& request) {
  if (machine() == nullptr || request.peer < 0) return;
  auto& inbox = request.comm->of[request.comm->peers().at(static_cast<std::size_t>(request.peer))].inbox;
  std::erase_if(inbox, [&](const Message& each) { return each.sender == &request; });
}

void fill(MPI_Status* status, const Request& request) {
  if (status == MPI_STATUS_IGNORE) return;
  status->MPI_SOURCE = request.source;
  status->MPI_TAG = request.its_tag;
  status->MPI_ERROR = request.error;
  status->_cancelled = request.is_cancelled ? 1 : 0;
  status->_ucount = request.received;
}

Request* request_of(MPI_Request handle) { return reinterpret_cast<Request*>(handle); }

void begin_receive(Request& request) {
  request.is_complete = false;
  request.is_active = true;
  request.error = MPI_SUCCESS;
  if (request.peer == MPI_PROC_NULL) {
    request.source = MPI_PROC_NULL;
    complete(request, MPI_SUCCESS);
    return;
  }
  own(request.comm).posted.push_back(&request);
  match_all(own(request.comm));
}

/// Returns whether a send of so many bytes waits for its receiver.
bool meets_receiver(std::size_t bytes) {
  if (machine() != nullptr) return static_cast<double>(bytes) > machine()->eager;
  return world().surroundings().rendezvous &&
         (bytes > kEager ? world().draw(Kind::network, 4) != 0 : world().draw(Kind::network, 16) == 15);
}

/// Returns the error of a send, or MPI_SUCCESS. waits: for its receiver in any case.
int begin_send(Request& request, const void* data, bool waits) {
  Comm& comm = *request.comm;
  if (request.peer == MPI_PROC_NULL) {
    complete(request, MPI_SUCCESS);
    return MPI_SUCCESS;
  }
  const Pid to = comm.peers().at(static_cast<std::size_t>(request.peer));
  if (is_revoked(&comm)) return MPIX_ERR_REVOKED;
  if (World::knows_of(self(), to, world().now()) && world().draw(Kind::race, 4) != 0) return MPIX_ERR_PROC_FAILED;
  Process& receiver = *world().find(to);
  world().note(static_cast<std::uint64_t>(to), [&] {
    return "sends a message to rank " + std::to_string(receiver.number) + ", tag " + std::to_string(request.tag);
  });
  Message message{rank_in(&comm), request.tag, {}, 0, nullptr, self().pid, {}};
  const auto* begin = static_cast<const std::byte*>(data);
  const bool meets = waits || meets_receiver(request.bytes);
  if (meets && machine() != nullptr) {
    message.borrowed = {begin, request.bytes};
  } else {
    message.data.assign(begin, begin + request.bytes);
  }
  if (meets) message.sender = &request;
  if (!meets) complete(request, MPI_SUCCESS);
  if (receiver.alive || !receiver.exited) {
    Member& there = comm.of[to];
    message.ready = time_of_message(there, self().pid, receiver, request.bytes);
    if (receiver.alive) world().stir(receiver, message.ready);
    there.inbox.push_back(std::move(message));
  }
  return MPI_SUCCESS;
}

// Requests that have ended. Elsewhere each has an address of its own.
std::vector<Request*>& free_requests() {
  static std::vector<Request*> requests;
  return requests;
}

}  // namespace

Request* take_request() {
  ++self().open_requests;
  if (free_requests().empty()) return world().objects().make<Request>();
  Request* request = free_requests().back();
  free_requests().pop_back();
  *request = {};
  return request;
}

void give_back(Request* request) {
  --self().open_requests;
  if (machine() != nullptr) free_requests().push_back(request);
}

/// Looks whether a request has ended.
int test(Request& request, bool& ended) {
  ended = false;
  make_progress();
  if (!request.is_active) {
    ended = true;
    return MPI_SUCCESS;
  }
  if (request.form == Request::Form::receive && !request.is_complete) match_all(own(request.comm));
  if (!request.is_complete) {
    int pending = MPI_SUCCESS;
    const int error = error_of(request, pending);
    if (pending != MPI_SUCCESS) return pending;
    if (error != MPI_SUCCESS) complete(request, error);
    if (error != MPI_SUCCESS && request.form == Request::Form::receive) withdraw(request);
    if (error != MPI_SUCCESS && request.form == Request::Form::send) withdraw_send(request);
    if (request.is_cancelled && !request.is_complete) {
      withdraw(request);
      complete(request, MPI_SUCCESS);
    }
  }
  ended = request.is_complete;
  return ended ? request.error : MPI_SUCCESS;
}

// If nobody who lives has heard of a revocation, it may be lost with the one that has made it.
void lose_revocation(Comm& comm) {
  const Time now = world().now();
  const bool is_known = std::any_of(comm.of.begin(), comm.of.end(), [&](const auto& each) {
    return each.second.revoked_at <= now && world().find(each.first)->alive;
  });
  if (is_known || world().draw(Kind::loss, 2) == 0) return;
  for (auto& [pid, member] : comm.of) member.revoked_at = kNever;
}

void note_death(Process& dead) {
  for (Comm* comm : dead.mpi->comms) {
    if (comm != nullptr && comm->revoker == dead.pid) lose_revocation(*comm);
  }
  for (Process& other : world().processes()) {
    if (!other.alive) continue;
    for (Comm* comm : other.mpi->comms) {
      if (comm == nullptr || comm->of.count(other.pid) == 0) continue;
      auto& inbox = comm->of[other.pid].inbox;
      // The first ones of those on their way arrive.
      bool lost = false;
      for (auto each = inbox.begin(); each != inbox.end();) {
        lost = lost || (each->from == dead.pid && each->ready > world().now() && world().draw(Kind::loss, 3) == 2);
        each = lost && each->from == dead.pid && each->ready > world().now() ? inbox.erase(each) : each + 1;
      }
    }
  }
}

}  // namespace fenix_simulation::mpi

using namespace fenix_simulation::mpi;
using fenix_simulation::count_bytes;
using fenix_simulation::Kind;
using fenix_simulation::machine;
using fenix_simulation::Process;
using fenix_simulation::World;
using fenix_simulation::world;

namespace {

Request* make_request(Request::Form form, MPI_Comm comm, const void* buffer, std::size_t bytes, int peer) {
  Request* request = take_request();
  request->form = form;
  request->comm = comm_of(comm);
  request->buffer = static_cast<std::byte*>(const_cast<void*>(buffer));
  request->bytes = bytes;
  request->peer = peer;
  return request;
}

MPI_Request handle_of(Request* request) { return reinterpret_cast<MPI_Request>(request); }

std::size_t bytes_of(int count, MPI_Datatype type) { return static_cast<std::size_t>(count) * size_of(type); }

int send(const void* data, std::size_t bytes, int to, int tag, MPI_Comm comm, bool waits, MPI_Request* made) {
  world().step();
  make_progress();
  note_call(waits ? "Issend" : "Isend", comm_of(comm), to, tag);
  if (!waits && to != MPI_PROC_NULL) count_bytes(scaling::messages, scaling::message_bytes, bytes);
  Request* request = make_request(Request::Form::send, comm, data, bytes, to);
  request->tag = tag;
  *made = MPI_REQUEST_NULL;
  const int error = begin_send(*request, data, waits);
  if (error != MPI_SUCCESS) return raise(request->comm, error);
  *made = handle_of(request);
  return MPI_SUCCESS;
}

/// Ends a request whose handle the program has.
int finish(MPI_Request* handle, MPI_Status* status, int error) {
  Request* request = request_of(*handle);
  Comm* comm = request->comm;
  fill(status, *request);
  if (request->is_persistent) {
    request->is_active = false;
  } else {
    *handle = MPI_REQUEST_NULL;
    give_back(request);
  }
  return raise(comm, error);
}

}  // namespace

FENIX_MPI(int, _Isend,
          (const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* made)) {
  return send(data, bytes_of(count, type), to, tag, comm, false, made);
}

FENIX_MPI(int, _Issend,
          (const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* made)) {
  return send(data, bytes_of(count, type), to, tag, comm, true, made);
}

FENIX_MPI(int, _Irecv,
          (void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* made)) {
  world().step();
  note_call("Irecv", comm_of(comm), from, tag);
  *made = MPI_REQUEST_NULL;
  if (is_revoked(comm_of(comm))) return raise(comm_of(comm), MPIX_ERR_REVOKED);
  Request* request = make_request(Request::Form::receive, comm, data, bytes_of(count, type), from);
  request->tag = tag;
  begin_receive(*request);
  *made = handle_of(request);
  return MPI_SUCCESS;
}

FENIX_MPI(int, _Recv_init,
          (void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* made)) {
  Request* request = make_request(Request::Form::receive, comm, data, bytes_of(count, type), from);
  request->tag = tag;
  request->is_persistent = true;
  request->is_active = false;
  *made = handle_of(request);
  return MPI_SUCCESS;
}

FENIX_MPI(int, _Start, (MPI_Request * request)) {
  world().step();
  begin_receive(*request_of(*request));
  return MPI_SUCCESS;
}

FENIX_MPI(int, _Test, (MPI_Request * handle, int* flag, MPI_Status* status)) {
  *flag = 1;
  if (*handle == MPI_REQUEST_NULL) return MPI_SUCCESS;
  Request* request = request_of(*handle);
  bool ended = false;
  const int error = test(*request, ended);
  *flag = ended ? 1 : 0;
  if (!ended && error != MPI_SUCCESS) return raise(request->comm, error);
  if (!ended) {
    world().idle();
    return MPI_SUCCESS;
  }
  world().step();
  return finish(handle, status, error);
}

FENIX_MPI(int, _Wait, (MPI_Request * handle, MPI_Status* status)) {
  int ended = 0;
  int error = MPI_SUCCESS;
  while (ended == 0 && error == MPI_SUCCESS) error = PMPI_Test(handle, &ended, status);
  return error;
}

FENIX_MPI(int, _Testall, (int number, MPI_Request* handles, int* flag, MPI_Status* /*statuses*/)) {
  *flag = 1;
  for (int i = 0; i < number; ++i) {
    int ended = 0;
    const int error = PMPI_Test(&handles[i], &ended, MPI_STATUS_IGNORE);
    if (error != MPI_SUCCESS) return error;
    if (ended == 0) *flag = 0;
  }
  return MPI_SUCCESS;
}

FENIX_MPI(int, _Waitall, (int number, MPI_Request* handles, MPI_Status* /*statuses*/)) {
  int first = MPI_SUCCESS;
  for (int i = 0; i < number; ++i) {
    const int error = PMPI_Wait(&handles[i], MPI_STATUS_IGNORE);
    if (first == MPI_SUCCESS) first = error;
  }
  return first;
}

FENIX_MPI(int, _Cancel, (MPI_Request * handle)) {
  if (*handle == MPI_REQUEST_NULL) return MPI_SUCCESS;
  Request* request = request_of(*handle);
  // It may still get its message before it is looked at.
  if (request->form == Request::Form::receive && !request->is_complete) request->is_cancelled = true;
  return MPI_SUCCESS;
}

FENIX_MPI(int, _Request_free, (MPI_Request * handle)) {
  *handle = MPI_REQUEST_NULL;
  return MPI_SUCCESS;
}

FENIX_MPI(int, _Iprobe, (int from, int tag, MPI_Comm comm, int* flag, MPI_Status* status)) {
  Comm* object = comm_of(comm);
  *flag = 0;
  // A probe on a revoked communicator looks at nothing in Open MPI.
  if (is_revoked(object)) {
    world().idle();
    return raise(object, MPIX_ERR_REVOKED);
  }
  make_progress();
  Request wanted;
  wanted.peer = from;
  wanted.tag = tag;
  for (const Message& message : own(object).inbox) {
    if (message.ready > world().time_here() || !matches(message, wanted)) continue;
    *flag = 1;
    wanted.source = message.source;
    wanted.its_tag = message.tag;
    wanted.received = message.content().size();
    fill(status, wanted);
    world().step();
    return MPI_SUCCESS;
  }
  // In Open MPI they do not tell of deaths.
  const bool fails =
      !world().surroundings().open_mpi && knows_dead_peer(*object, from) && world().draw(Kind::race, 2) == 1;
  world().idle();
  return fails ? raise(object, from == MPI_ANY_SOURCE ? MPIX_ERR_PROC_FAILED_PENDING : MPIX_ERR_PROC_FAILED)
               : MPI_SUCCESS;
}

FENIX_MPI(int, _Recv,
          (void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status)) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int error = PMPI_Irecv(data, count, type, from, tag, comm, &request);
  return error != MPI_SUCCESS ? error : PMPI_Wait(&request, status);
}

FENIX_MPI(int, _Send, (const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int error = PMPI_Isend(data, count, type, to, tag, comm, &request);
  return error != MPI_SUCCESS ? error : PMPI_Wait(&request, MPI_STATUS_IGNORE);
}

FENIX_MPI(int, _Get_count, (const MPI_Status* status, MPI_Datatype type, int* count)) {
  *count = static_cast<int>(status->_ucount / size_of(type));
  return MPI_SUCCESS;
}
