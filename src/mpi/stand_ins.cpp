// SPDX-License-Identifier: BSD-3-Clause
// No function here that calls libfenix has an object with a destructor meanwhile: control may leave by longjmp.
#include "mpi/stand_ins.hpp"

#include <sched.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "mpi/derived.hpp"
#include "mpi/error_handlers.hpp"
#include "mpi/persistent.hpp"
#include "mpi/persistent_collectives.hpp"
#include "mpi/real.hpp"

namespace fenix_impl {

constinit std::atomic<int> stand_ins{0};

namespace {

struct StandIn {
  enum class Kind { send, receive, logged_receive, collective } kind = Kind::receive;
  enum class State { inactive, pending, done } state = State::inactive;
  bool is_used_once = false;
  bool is_cancelled = false;
  int error = MPI_SUCCESS;
  Receive receive;
  Send send;
  LoggedReceive logged;
  MPI_Request inner = MPI_REQUEST_NULL;  // of a logged receive, or of a collective operation that MPI executes
  std::uint64_t order = 0;               // of logged receives
  Collective collective;
  InitFunction* init = nullptr;  // makes the inner request of a collective operation
  MPI_Status status{};
};
// Copies of them are in frames that control may leave by longjmp.
static_assert(std::is_trivially_destructible_v<StandIn>);

/// A message that was stored, on its way from this process to itself.
struct Matched {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Status status{};
  std::vector<char> bytes;
  MPI_Request sent = MPI_REQUEST_NULL;
};

struct All {
  std::mutex mutex;
  std::map<MPI_Request, StandIn> requests;
  std::map<MPI_Message, Matched> messages;
};

All& all() {
  static auto* instance = new All;
  return *instance;
}

void count_all() {
  stand_ins.store(static_cast<int>(all().requests.size() + all().messages.size()), std::memory_order_release);
}

std::optional<StandIn> find_stand_in(MPI_Request request) {
  const std::lock_guard lock(all().mutex);
  const auto found = all().requests.find(request);
  return found != all().requests.end() ? std::optional(found->second) : std::nullopt;
}

bool is_pending(MPI_Request request) {
  const auto stand_in = find_stand_in(request);
  return stand_in && stand_in->state == StandIn::State::pending;
}

void add(MPI_Request request, const StandIn& stand_in) {
  const std::lock_guard lock(all().mutex);
  all().requests[request] = stand_in;
  count_all();
}

/// Makes a request that can be started later.
int make_request(MPI_Request* request) {
  return real.Recv_init(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, request);
}

void set_done(MPI_Request request, int error, const MPI_Status& status) {
  {
    const std::lock_guard lock(all().mutex);
    const auto found = all().requests.find(request);
    if (found == all().requests.end()) return;
    found->second.state = StandIn::State::done;
    found->second.error = error;
    found->second.status = status;
  }
  MPI_Request started = request;
  (void)real.Start(&started);
}

/// Looks whether the message of a logged receive is there.
void look_for_logged(MPI_Request request, StandIn stand_in) {
  int flag = 0;
  MPI_Status status{};
  const int error = look_for_logged(stand_in.logged, &stand_in.inner, &flag, &status);
  {
    const std::lock_guard lock(all().mutex);
    const auto found = all().requests.find(request);
    if (found != all().requests.end()) found->second.inner = stand_in.inner;
  }
  if (error != MPI_SUCCESS || flag != 0) set_done(request, error, status);
}

/// Looks whether MPI has executed the collective operation of a stand-in, or waits until it has.
void look_for_collective(MPI_Request request, MPI_Request inner, bool waits) {
  int flag = 1;
  const int error = waits ? real.Wait(&inner, MPI_STATUS_IGNORE) : real.Test(&inner, &flag, MPI_STATUS_IGNORE);
  if (error != MPI_SUCCESS || flag != 0) set_done(request, error, {});
}

/// Looks whether the message of a stand-in is there.
void look_for(MPI_Request request) {
  Receive wanted;
  {
    const auto stand_in = find_stand_in(request);
    if (!stand_in || stand_in->state != StandIn::State::pending) return;
    if (stand_in->kind == StandIn::Kind::logged_receive) return look_for_earlier_receives();
    if (stand_in->kind == StandIn::Kind::collective) return look_for_collective(request, stand_in->inner, false);
    wanted = stand_in->receive;
  }
  int flag = 0;
  MPI_Status status{};
  const int error = call_libfenix([&](const PersistServices& libfenix) {
    return libfenix.receive(wanted.buffer, wanted.count, wanted.type, wanted.source, wanted.tag, wanted.comm,
                            /*waits=*/false, &flag, &status);
  });
  if (error != MPI_SUCCESS || flag != 0) set_done(request, error, status);
}

/// Waits for the message of a stand-in, with looks at failures and a deadline.
void wait_for(MPI_Request request) {
  Receive wanted;
  {
    const auto stand_in = find_stand_in(request);
    if (!stand_in || stand_in->state != StandIn::State::pending) return;
    if (stand_in->kind == StandIn::Kind::logged_receive) {
      for (; is_pending(request); sched_yield()) look_for_earlier_receives();
      return;
    }
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

/// Gives the program the status of a stand-in whose request MPI has completed. Returns its error.
int finish(MPI_Request completed, MPI_Request* slot, MPI_Status* status) {
  int error = MPI_SUCCESS;
  MPI_Comm comm = MPI_COMM_NULL;
  bool is_used_once = false;
  {
    const std::lock_guard lock(all().mutex);
    const auto found = all().requests.find(completed);
    if (found == all().requests.end()) return MPI_SUCCESS;
    StandIn& stand_in = found->second;
    if (stand_in.kind == StandIn::Kind::send) return MPI_SUCCESS;
    if (stand_in.state != StandIn::State::done) return MPI_SUCCESS;
    error = stand_in.error;
    comm = stand_in.kind == StandIn::Kind::receive ? stand_in.receive.comm : MPI_COMM_NULL;
    // MPI has given the status of a collective operation already.
    if (status != MPI_STATUS_IGNORE && stand_in.kind != StandIn::Kind::collective) {
      const int kept = status->MPI_ERROR;
      *status = stand_in.status;
      status->MPI_ERROR = error != MPI_SUCCESS ? error : kept;
      PMPI_Status_set_cancelled(status, stand_in.is_cancelled ? 1 : 0);
    }
    stand_in.state = StandIn::State::inactive;
    is_used_once = stand_in.is_used_once;
    if (is_used_once) all().requests.erase(found);
    count_all();
  }
  if (is_used_once) {
    MPI_Request used = completed;
    (void)real.Request_free(&used);
    *slot = MPI_REQUEST_NULL;
  }
  return comm != MPI_COMM_NULL ? raise_on(comm, error) : error;
}

MPI_Status* at(MPI_Status* statuses, int index) {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses + index;
}

/// Memory for handles that is used again: control may leave by longjmp.
std::vector<MPI_Request>& copies_of(int count, const MPI_Request* requests) {
  static thread_local std::vector<MPI_Request> copies;
  copies.assign(requests, requests + std::max(count, 0));
  return copies;
}

bool some_are_pending(int count, const MPI_Request* requests) {
  return std::any_of(requests, requests + std::max(count, 0), is_pending);
}

void look_for_all(int count, const MPI_Request* requests) {
  for (int i = 0; i < count; ++i) look_for(requests[i]);
}

/// Finishes those of completed stand-ins. Returns the first error.
int finish_all(int count, const std::vector<MPI_Request>& before, MPI_Request* requests, MPI_Status* statuses) {
  int error = MPI_SUCCESS;
  for (int i = 0; i < count; ++i) {
    const int of_one = finish(before[static_cast<std::size_t>(i)], requests + i, at(statuses, i));
    if (error == MPI_SUCCESS) error = of_one;
  }
  return error;
}

/// Finishes the stand-ins among some that MPI has completed, by their indices.
int finish_some(int outcount, const int* indices, const std::vector<MPI_Request>& before, MPI_Request* requests,
                MPI_Status* statuses) {
  int error = MPI_SUCCESS;
  for (int i = 0; i < outcount; ++i) {
    const int of_one = finish(before[static_cast<std::size_t>(indices[i])], requests + indices[i], at(statuses, i));
    if (error == MPI_SUCCESS) error = of_one;
  }
  return error;
}

/// Called while nothing that the program waits for is there. since: when the wait began.
int check_wait(double since, int count, const MPI_Request* requests) {
  sched_yield();
  // Requests of MPI have all the time that they need.
  const bool others = std::any_of(requests, requests + count, [](MPI_Request each) {
    if (each == MPI_REQUEST_NULL) return false;
    const auto stand_in = find_stand_in(each);
    return !stand_in || stand_in->kind == StandIn::Kind::collective;
  });
  return persist_services()->check_wait(others ? PMPI_Wtime() : since);
}

/// The communicator on which matched messages are, each in a message of this process to itself.
MPI_Comm comm_of_messages() {
  static MPI_Comm comm = [] {
    MPI_Comm made = MPI_COMM_NULL;
    real.Comm_dup(MPI_COMM_SELF, &made);
    return made;
  }();
  return comm;
}

}  // namespace

int add_done_stand_in(const MPI_Status& status, MPI_Request* request) {
  const int error = make_request(request);
  if (error != MPI_SUCCESS) return error;
  StandIn stand_in;
  stand_in.is_used_once = true;
  add(*request, stand_in);
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
  add(*request, stand_in);
  look_for(*request);
  return MPI_SUCCESS;
}

int start_logged_receive(const LoggedReceive& receive, MPI_Request* request) {
  static std::atomic<std::uint64_t> begun{0};
  const int error = make_request(request);
  if (error != MPI_SUCCESS) return error;
  StandIn stand_in;
  stand_in.kind = StandIn::Kind::logged_receive;
  stand_in.is_used_once = true;
  stand_in.logged = receive;
  stand_in.order = ++begun;
  stand_in.state = StandIn::State::pending;
  add(*request, stand_in);
  look_for_earlier_receives();
  return MPI_SUCCESS;
}

void look_for_earlier_receives() {
  static thread_local std::vector<std::pair<std::uint64_t, MPI_Request>> pending;
  if (!has_stand_ins()) return;
  pending.clear();
  {
    const std::lock_guard lock(all().mutex);
    for (const auto& [request, stand_in] : all().requests) {
      const bool is_one = stand_in.kind == StandIn::Kind::logged_receive && stand_in.state == StandIn::State::pending;
      if (is_one) pending.emplace_back(stand_in.order, request);
    }
  }
  std::sort(pending.begin(), pending.end());
  for (const auto& [order, request] : pending) {
    if (const auto stand_in = find_stand_in(request)) look_for_logged(request, *stand_in);
  }
}

int init_receive(const Receive& receive, MPI_Request* request) {
  const int error = make_request(request);
  if (error != MPI_SUCCESS) return error;
  StandIn stand_in;
  stand_in.receive = receive;
  add(*request, stand_in);
  return MPI_SUCCESS;
}

void add_send_stand_in(MPI_Request request, const Send& send) {
  StandIn stand_in;
  stand_in.kind = StandIn::Kind::send;
  stand_in.send = send;
  add(request, stand_in);
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
  add(*request, stand_in);
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
  add(*request, stand_in);
  if (error != MPI_SUCCESS) with_stand_ins_Request_free(request);
  return error;
}

int match_stored(int source, int tag, MPI_Comm comm, bool waits, int* flag, MPI_Message* message, MPI_Status* status) {
  static thread_local std::vector<char> bytes;
  MPI_Status found{};
  int error = call_libfenix(
      [&](const PersistServices& libfenix) { return libfenix.probe(source, tag, comm, waits, flag, &found); });
  if (error != MPI_SUCCESS || *flag == 0) return error;
  if (found.MPI_SOURCE == MPI_PROC_NULL) {
    *message = MPI_MESSAGE_NO_PROC;
    if (status != MPI_STATUS_IGNORE) *status = found;
    return MPI_SUCCESS;
  }
  int count = 0;
  PMPI_Get_count(&found, MPI_BYTE, &count);
  bytes.resize(static_cast<std::size_t>(count));
  error = call_libfenix([&](const PersistServices& libfenix) {
    return libfenix.receive(bytes.data(), count, MPI_BYTE, found.MPI_SOURCE, found.MPI_TAG, comm, false, flag, &found);
  });
  if (error != MPI_SUCCESS || *flag == 0) return error;
  PMPI_Get_count(&found, MPI_BYTE, &count);
  if (status != MPI_STATUS_IGNORE) *status = found;
  const std::lock_guard lock(all().mutex);
  Matched matched;
  matched.comm = comm;
  matched.status = found;
  matched.bytes = std::move(bytes);
  const MPI_Comm self = comm_of_messages();
  error = real.Isend(matched.bytes.data(), count, MPI_BYTE, 0, 0, self, &matched.sent);
  if (error == MPI_SUCCESS) error = real.Mprobe(0, 0, self, message, MPI_STATUS_IGNORE);
  if (error == MPI_SUCCESS) all().messages[*message] = std::move(matched);
  count_all();
  return error;
}

namespace {

bool has_room(int count, MPI_Datatype type, std::size_t bytes) {
  MPI_Count size = 0;
  if (PMPI_Type_size_x(type, &size) != MPI_SUCCESS) return true;
  return static_cast<MPI_Count>(bytes) <= count * size;
}

int start_collective(MPI_Request request, StandIn stand_in) {
  if (stand_in.state != StandIn::State::inactive) return raise_on(stand_in.collective.comm, MPI_ERR_REQUEST);
  int executes = 0;
  int error = do_collective(stand_in.collective, &executes);
  if (error != MPI_SUCCESS) return error;
  if (executes == 0) {
    set_done(request, MPI_SUCCESS, {});
    return MPI_SUCCESS;
  }
  if (stand_in.inner == MPI_REQUEST_NULL) error = stand_in.init(stand_in.collective, MPI_INFO_NULL, &stand_in.inner);
  if (error == MPI_SUCCESS) error = real.Start(&stand_in.inner);
  const std::lock_guard lock(all().mutex);
  StandIn& started = all().requests.at(request);
  started.inner = stand_in.inner;
  if (error == MPI_SUCCESS) started.state = StandIn::State::pending;
  return error;
}

}  // namespace

// ---------------------------------------------------------------------------------------------------------------- completions

int with_stand_ins_Start(MPI_Request* request) {
  const auto stand_in = find_stand_in(*request);
  if (!stand_in) return real.Start(request);
  if (stand_in->kind == StandIn::Kind::send) {
    const Send& send = stand_in->send;
    const int error = call_libfenix([&](const PersistServices& libfenix) {
      return libfenix.store(send.buffer, send.count, send.type, send.destination, send.tag, send.comm);
    });
    return error != MPI_SUCCESS ? raise_on(send.comm, error) : real.Start(request);
  }
  if (stand_in->kind == StandIn::Kind::collective) return start_collective(*request, *stand_in);
  {
    const std::lock_guard lock(all().mutex);
    StandIn& started = all().requests.at(*request);
    if (started.state != StandIn::State::inactive) return raise_on(started.receive.comm, MPI_ERR_REQUEST);
    started.state = StandIn::State::pending;
    started.is_cancelled = false;
  }
  look_for(*request);
  return MPI_SUCCESS;
}

int with_stand_ins_Startall(int count, MPI_Request array_of_requests[]) {
  for (int i = 0; i < count; ++i) {
    const int error = with_stand_ins_Start(array_of_requests + i);
    if (error != MPI_SUCCESS) return error;
  }
  return MPI_SUCCESS;
}

int with_stand_ins_Wait(MPI_Request* request, MPI_Status* status) {
  const MPI_Request before = *request;
  wait_for(before);
  const int error = real.Wait(request, status);
  return error != MPI_SUCCESS ? error : finish(before, request, status);
}

int with_stand_ins_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  const MPI_Request before = *request;
  look_for(before);
  if (is_pending(before)) {
    *flag = 0;
    return MPI_SUCCESS;
  }
  const int error = real.Test(request, flag, status);
  return error != MPI_SUCCESS || *flag == 0 ? error : finish(before, request, status);
}

int with_stand_ins_Waitall(int count, MPI_Request array_of_requests[], MPI_Status* array_of_statuses) {
  for (int i = 0; i < count; ++i) wait_for(array_of_requests[i]);
  const std::vector<MPI_Request>& before = copies_of(count, array_of_requests);
  const int error = real.Waitall(count, array_of_requests, array_of_statuses);
  if (error != MPI_SUCCESS) return error;
  return finish_all(count, before, array_of_requests, array_of_statuses) == MPI_SUCCESS ? MPI_SUCCESS
                                                                                        : MPI_ERR_IN_STATUS;
}

int with_stand_ins_Testall(int count, MPI_Request array_of_requests[], int* flag, MPI_Status array_of_statuses[]) {
  look_for_all(count, array_of_requests);
  if (some_are_pending(count, array_of_requests)) {
    *flag = 0;
    return MPI_SUCCESS;
  }
  const std::vector<MPI_Request>& before = copies_of(count, array_of_requests);
  const int error = real.Testall(count, array_of_requests, flag, array_of_statuses);
  if (error != MPI_SUCCESS || *flag == 0) return error;
  return finish_all(count, before, array_of_requests, array_of_statuses) == MPI_SUCCESS ? MPI_SUCCESS
                                                                                        : MPI_ERR_IN_STATUS;
}

int with_stand_ins_Testany(int count, MPI_Request array_of_requests[], int* index, int* flag, MPI_Status* status) {
  look_for_all(count, array_of_requests);
  const bool pending = some_are_pending(count, array_of_requests);
  const std::vector<MPI_Request>& before = copies_of(count, array_of_requests);
  const int error = real.Testany(count, array_of_requests, index, flag, status);
  if (error != MPI_SUCCESS || *flag == 0) return error;
  if (*index == MPI_UNDEFINED) {
    // MPI takes those that are pending for inactive.
    if (pending) *flag = 0;
    return MPI_SUCCESS;
  }
  return finish(before[static_cast<std::size_t>(*index)], array_of_requests + *index, status);
}

int with_stand_ins_Waitany(int count, MPI_Request array_of_requests[], int* index, MPI_Status* status) {
  int flag = 0;
  for (const double since = PMPI_Wtime();;) {
    const int error = with_stand_ins_Testany(count, array_of_requests, index, &flag, status);
    if (error != MPI_SUCCESS || flag != 0) return error;
    if (const int due = check_wait(since, count, array_of_requests); due != MPI_SUCCESS) return due;
  }
}

int with_stand_ins_Testsome(int incount, MPI_Request array_of_requests[], int* outcount, int array_of_indices[],
                            MPI_Status array_of_statuses[]) {
  look_for_all(incount, array_of_requests);
  const bool pending = some_are_pending(incount, array_of_requests);
  const std::vector<MPI_Request>& before = copies_of(incount, array_of_requests);
  const int error = real.Testsome(incount, array_of_requests, outcount, array_of_indices, array_of_statuses);
  if (error != MPI_SUCCESS) return error;
  if (*outcount == MPI_UNDEFINED) {
    if (pending) *outcount = 0;
    return MPI_SUCCESS;
  }
  const int of_some = finish_some(*outcount, array_of_indices, before, array_of_requests, array_of_statuses);
  return of_some == MPI_SUCCESS ? MPI_SUCCESS : MPI_ERR_IN_STATUS;
}

int with_stand_ins_Waitsome(int incount, MPI_Request array_of_requests[], int* outcount, int array_of_indices[],
                            MPI_Status array_of_statuses[]) {
  for (const double since = PMPI_Wtime();;) {
    const int error =
        with_stand_ins_Testsome(incount, array_of_requests, outcount, array_of_indices, array_of_statuses);
    if (error != MPI_SUCCESS || *outcount != 0) return error;
    if (const int due = check_wait(since, incount, array_of_requests); due != MPI_SUCCESS) return due;
  }
}

int with_stand_ins_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  look_for(request);
  const auto stand_in = find_stand_in(request);
  if (!stand_in || stand_in->kind == StandIn::Kind::send || stand_in->state == StandIn::State::inactive) {
    return real.Request_get_status(request, flag, status);
  }
  *flag = stand_in->state == StandIn::State::done ? 1 : 0;
  if (*flag != 0 && status != MPI_STATUS_IGNORE) *status = stand_in->status;
  return MPI_SUCCESS;
}

int with_stand_ins_Request_free(MPI_Request* request) {
  {
    const std::lock_guard lock(all().mutex);
    const auto found = all().requests.find(*request);
    if (found != all().requests.end()) {
      const bool has_inner = found->second.kind == StandIn::Kind::collective && found->second.inner != MPI_REQUEST_NULL;
      if (has_inner) (void)real.Request_free(&found->second.inner);
      all().requests.erase(found);
    }
    count_all();
  }
  return real.Request_free(request);
}

int with_stand_ins_Cancel(MPI_Request* request) {
  const auto stand_in = find_stand_in(*request);
  if (!stand_in) return real.Cancel(request);
  if (stand_in->kind == StandIn::Kind::collective) return raise_on(stand_in->collective.comm, MPI_ERR_REQUEST);
  if (stand_in->state != StandIn::State::pending) return MPI_SUCCESS;
  {
    const std::lock_guard lock(all().mutex);
    all().requests.at(*request).is_cancelled = true;
  }
  set_done(*request, MPI_SUCCESS, {});
  return MPI_SUCCESS;
}

int with_stand_ins_Mrecv(void* buf, int count, MPI_Datatype type, MPI_Message* message, MPI_Status* status) {
  int error = MPI_SUCCESS;
  MPI_Comm comm = MPI_COMM_NULL;
  bool fits = true;
  {
    Matched matched;
    {
      const std::lock_guard lock(all().mutex);
      const auto found = all().messages.find(*message);
      if (found == all().messages.end()) return real.Mrecv(buf, count, type, message, status);
      matched = std::move(found->second);
      all().messages.erase(found);
      count_all();
    }
    comm = matched.comm;
    fits = has_room(count, type, matched.bytes.size());
    if (fits) {
      error = real.Mrecv(buf, count, type, message, status);
    } else {
      std::vector<char> unused(matched.bytes.size());
      (void)real.Mrecv(unused.data(), static_cast<int>(unused.size()), MPI_BYTE, message, MPI_STATUS_IGNORE);
    }
    (void)real.Wait(&matched.sent, MPI_STATUS_IGNORE);
    if (status != MPI_STATUS_IGNORE) {
      status->MPI_SOURCE = matched.status.MPI_SOURCE;
      status->MPI_TAG = matched.status.MPI_TAG;
    }
  }
  // MPI would call the handler of a communicator that the program does not know.
  return fits ? error : refuse_call(comm, MPI_ERR_TRUNCATE, "the message has more bytes than the buffer");
}

int with_stand_ins_Imrecv(void* buf, int count, MPI_Datatype type, MPI_Message* message, MPI_Request* request) {
  bool is_stored = false;
  {
    const std::lock_guard lock(all().mutex);
    is_stored = all().messages.count(*message) > 0;
  }
  if (!is_stored) return real.Imrecv(buf, count, type, message, request);
  MPI_Status status{};
  const int error = with_stand_ins_Mrecv(buf, count, type, message, &status);
  return error != MPI_SUCCESS ? error : add_done_stand_in(status, request);
}

}  // namespace fenix_impl
