// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/logged.hpp"

#include <sched.h>
#include <mpi-ext.h>

#include <array>
#include <cstddef>
#include <list>
#include <mutex>
#include <utility>
#include <vector>

#include "mpi/counted_receives.hpp"
#include "mpi/derived.hpp"
#include "mpi/error_handlers.hpp"
#include "mpi/logged_receives.hpp"
#include "mpi/persistent.hpp"
#include "mpi/quick_messages.hpp"
#include "mpi/real.hpp"
#include "mpi/stand_ins.hpp"

namespace fenix_impl {

constinit std::atomic<bool> logs_messages{false};
constinit std::atomic<bool> is_transparent{false};
constinit std::atomic<MPI_Comm> comm_of_log{nullptr};

namespace {

constexpr std::size_t kLargeBytes = std::size_t{32} << 10;

// The library is there from the start of the process.
[[gnu::tls_model("initial-exec")]] thread_local int depth_of_calls = 0;

std::uint64_t channel_of_log = 0;

const PersistServices& libfenix() { return *persist_services(); }

/// The bytes of a message in the log. Null: it must not be sent.
struct Packed {
  const void* data = nullptr;
  std::size_t bytes = 0;
};

/// A message on its way, with a copy of its bytes: the program may use its buffer again, as the log has the message.
struct Sent {
  std::vector<std::byte> bytes;
  MPI_Request request = MPI_REQUEST_NULL;
};

std::list<Sent>& sent_messages() {
  static auto* instance = new std::list<Sent>;
  return *instance;
}

/// Memory of large messages that have arrived, for later ones: new pages cost more than the copy.
std::vector<std::vector<std::byte>>& spare_memory() {
  static auto* instance = new std::vector<std::vector<std::byte>>;
  return *instance;
}

void forget_those_that_have_arrived() {
  constexpr std::size_t kMostSpare = 8;
  sent_messages().remove_if([](Sent& each) {
    int flag = 0;
    const bool has_arrived = real.Test(&each.request, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS || flag != 0;
    const bool is_kept = each.bytes.capacity() >= kLargeBytes && spare_memory().size() < kMostSpare;
    if (has_arrived && is_kept) spare_memory().push_back(std::move(each.bytes));
    return has_arrived;
  });
}

/// Logs a message. Repeats a call that a failure has cut short, if the program wants it.
int log_send(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, Packed* packed) {
  // Not later: a repair between log and send would have the message sent once more.
  forget_those_that_have_arrived();
  int error = MPI_SUCCESS;
  do {
    error = libfenix().log_send(buf, count, type, dest, tag, comm, channel_of(comm), &packed->data, &packed->bytes);
  } while (tells_of_failure(error) && repeats_calls());
  return error;
}

/// Begins to send bytes. Many of them go as one element of a type that is made for them: MPI counts with int.
int start_bytes(const void* bytes, std::size_t count, int dest, int tag, MPI_Comm comm, MPI_Request* request) {
  constexpr std::size_t kMostCounted = std::size_t{16} << 20;
  if (count <= kMostCounted) return real.Isend(bytes, static_cast<int>(count), MPI_BYTE, dest, tag, comm, request);
  const std::size_t rest = count % kMostCounted;
  const int lengths[] = {static_cast<int>(count / kMostCounted), static_cast<int>(rest)};
  const MPI_Aint places[] = {0, static_cast<MPI_Aint>(count - rest)};
  MPI_Datatype types[] = {MPI_DATATYPE_NULL, MPI_BYTE};
  MPI_Datatype all = MPI_DATATYPE_NULL;
  int error = PMPI_Type_contiguous(static_cast<int>(kMostCounted), MPI_BYTE, types);
  if (error != MPI_SUCCESS) return error;
  error = PMPI_Type_create_struct(2, lengths, places, types, &all);
  if (error == MPI_SUCCESS) error = PMPI_Type_commit(&all);
  if (error == MPI_SUCCESS) error = real.Isend(bytes, 1, all, dest, tag, comm, request);
  PMPI_Type_free(types);
  if (all != MPI_DATATYPE_NULL) PMPI_Type_free(&all);
  return error;
}

int start_copy(const Packed& packed, int dest, int tag, MPI_Comm comm) {
  Sent& sent = sent_messages().emplace_back();
  if (packed.bytes >= kLargeBytes && !spare_memory().empty()) {
    sent.bytes = std::move(spare_memory().back());
    spare_memory().pop_back();
  }
  const auto* bytes = static_cast<const std::byte*>(packed.data);
  sent.bytes.assign(bytes, bytes + packed.bytes);
  return start_bytes(sent.bytes.data(), packed.bytes, dest, tag, now(comm), &sent.request);
}

/// A message that is logged, and is to be sent with the next call.
struct Waiting {
  std::vector<std::byte> bytes;
  int dest = 0;
  int tag = 0;
  MPI_Comm comm = MPI_COMM_NULL;
  unsigned repairs = 0;  ///< so many there had been
};

std::vector<Waiting>& messages_for_later() {
  static auto* instance = new std::vector<Waiting>;
  return *instance;
}

void start_what_waits() {
  for (const Waiting& each : std::exchange(messages_for_later(), {})) {
    // After a repair its receiver finds it in the log.
    if (each.repairs != registry().repairs) continue;
    (void)start_copy({each.bytes.data(), each.bytes.size()}, each.dest, each.tag, each.comm);
  }
}

using SendFunction = int (*)(const void*, int, MPI_Datatype, int, int, MPI_Comm);

/// A message that a failure has cut short is in the log, and its receiver takes it from there. So a call that is made again finds it.
int without_failure(int error, int dest, int tag, MPI_Comm comm) {
  if (!tells_of_failure(error)) return error;
  if (repeats_calls()) return MPI_SUCCESS;
  take_back(/*is_sent=*/true, dest, tag, comm);
  return error;
}

/// Whether a message takes so long that its copy for the log is made meanwhile.
bool is_large(int count, MPI_Datatype type) {
  return libfenix().prepare_send != nullptr && has_many_bytes(count, type);
}

/// Logs a message, and begins to send it. begin: returns an error of MPI, and may make the request. Returns an error after the error handler.
template <class Begin>
int log_first(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, const Begin& begin,
              MPI_Request* request, Packed* packed) {
  const int error = log_send(buf, count, type, dest, tag, comm, packed);
  if (error != MPI_SUCCESS) return raise_on(comm, error);
  if (std::exchange(packed->data, nullptr) == nullptr) return MPI_SUCCESS;
  const int begun = begin();
  if (begun != MPI_SUCCESS) *request = MPI_REQUEST_NULL;
  return without_failure(begun, dest, tag, comm);
}

/// Does the same, and logs the message while it is on its way, if that may be: its receiver need not wait for the log. Where there is no request
/// in the end, packed says whether the message has to be sent once more.
template <class Begin>
int log_meanwhile(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, const Begin& begin,
                  MPI_Request* request, Packed* packed) {
  const QuickSend quick = quick_send(dest, tag, comm);
  if (!quick.is_allowed && !libfenix().may_send_first()) {
    return log_first(buf, count, type, dest, tag, comm, begin, request, packed);
  }
  int is_sent = 1;
  int error = MPI_SUCCESS;
  if (!quick.is_allowed || *quick.has_outcomes) {
    do {
      error = libfenix().prepare_send(dest, tag, comm, channel_of(comm), &is_sent);
    } while (tells_of_failure(error) && repeats_calls());
  }
  if (error != MPI_SUCCESS) return raise_on(comm, error);
  const unsigned repairs = registry().repairs;
  const int begun = is_sent != 0 ? begin() : MPI_SUCCESS;
  if (begun != MPI_SUCCESS) *request = MPI_REQUEST_NULL;
  // If the program makes the call again, it is a message then.
  if (begun != MPI_SUCCESS && (!tells_of_failure(begun) || !repeats_calls())) return begun;
  fault_point("mlog.sending");
  error = log_send(buf, count, type, dest, tag, comm, packed);
  if (error == MPI_SUCCESS && registry().repairs == repairs) {
    // It is on its way, or its receiver gets it from the log.
    packed->data = nullptr;
    return MPI_SUCCESS;
  }
  // The log did not have it when a failure was repaired: it may have to be sent now.
  if (*request != MPI_REQUEST_NULL) (void)real.Wait(request, MPI_STATUS_IGNORE);
  *request = MPI_REQUEST_NULL;
  return error != MPI_SUCCESS ? raise_on(comm, error) : MPI_SUCCESS;
}

/// Counts a message, if nothing else is to be done for it before it is sent.
bool count_quickly(int dest, int tag, MPI_Comm comm) {
  const QuickSend quick = quick_send(dest, tag, comm);
  if (!quick.is_allowed || quick.sent == nullptr) return false;
  ++*quick.sent;
  return true;
}

/// Whether messages are only counted, for checkpoints.
bool are_counted() { return libfenix().prepare_send == nullptr; }

/// Waits for a request of MPI. Other calls of the program go on meanwhile: another rank may wait for them.
int wait_and_go_on(MPI_Request* request) {
  constexpr unsigned kLooksAtOnce = 16;
  for (unsigned looks = 1; calls_need_progress(); ++looks) {
    int flag = 0;
    const int error = real.Test(request, &flag, MPI_STATUS_IGNORE);
    if (error != MPI_SUCCESS || flag != 0) return error;
    progress_logged_calls();
    if (looks % kLooksAtOnce == 0) sched_yield();
  }
  return real.Wait(request, MPI_STATUS_IGNORE);
}

/// Logs a message, or counts it, and sends it. start: the function that begins what real_send does.
int send(SendFunction real_send, StartFunction start, const void* buf, int count, MPI_Datatype type, int dest, int tag,
         MPI_Comm comm) {
  if (dest == MPI_PROC_NULL) return MPI_SUCCESS;
  const GoingOn call;
  Packed packed;
  MPI_Request request = MPI_REQUEST_NULL;
  const bool is_begun = is_large(count, type);
  progress_logged_calls();
  // As long as other calls need this library, the program must not be kept in MPI.
  const auto begin = [&] {
    const MPI_Comm at = now(comm);
    return is_begun || calls_need_progress() ? start(buf, count, type, dest, tag, at, &request)
                                             : real_send(buf, count, type, dest, tag, at);
  };
  int error = MPI_SUCCESS;
  if (!are_counted()) {
    error = log_meanwhile(buf, count, type, dest, tag, comm, begin, &request, &packed);
  } else if (count_quickly(dest, tag, comm)) {
    packed.data = &packed;
  } else {
    error = raise_on(comm, log_send(buf, count, type, dest, tag, comm, &packed));
  }
  if (error != MPI_SUCCESS) return error;
  if (packed.data != nullptr) {
    error = begin();
    if (error != MPI_SUCCESS) request = MPI_REQUEST_NULL;
  }
  if (request != MPI_REQUEST_NULL) error = wait_and_go_on(&request);
  return without_failure(error, dest, tag, comm);
}

bool is_repeating() {
  int repeats = 1;
  return libfenix().look_whether_repeating(&repeats) != MPI_SUCCESS || repeats != 0;
}

/// Makes a request for a message that is logged, or counted, and begins to send it.
int start_send(StartFunction start, const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
               MPI_Request* request) {
  if (dest == MPI_PROC_NULL) return real.Isend(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, request);
  MPI_Request inner = MPI_REQUEST_NULL;
  const int error = begin_logged_send({buf, count, type, dest, tag, comm, start}, &inner);
  if (error != MPI_SUCCESS) return error;
  if (!are_counted()) return add_started_send(inner, request);
  if (inner == MPI_REQUEST_NULL) {
    return real.Isend(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, request);
  }
  *request = inner;
  return MPI_SUCCESS;
}

/// Returns the function that begins a send whose message is copied in the call. Null: libfenix_mpi has the copy.
StartFunction copies_at_once() { return are_counted() ? real.Ibsend : nullptr; }

/// Makes a request that logs a message and begins to send it each time when it is started.
int init_send(StartFunction start, const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
              MPI_Request* request) {
  const int error = real.Send_init(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, request);
  if (error == MPI_SUCCESS) add_logged_send(*request, {buf, count, type, dest, tag, comm, start});
  return error;
}

}  // namespace

GoingOn::GoingOn() {
  ++depth_of_calls;
  if (!messages_for_later().empty()) start_what_waits();
}
GoingOn::~GoingOn() { --depth_of_calls; }

int start_logged_send(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
  if (dest == MPI_PROC_NULL) return MPI_SUCCESS;
  const GoingOn call;
  Packed packed;
  const int error = log_send(buf, count, type, dest, tag, comm, &packed);
  if (error != MPI_SUCCESS) return raise_on(comm, error);
  return packed.data != nullptr ? without_failure(start_copy(packed, dest, tag, comm), dest, tag, comm) : MPI_SUCCESS;
}

bool has_many_bytes(int count, MPI_Datatype type) {
  MPI_Count bytes = 0;
  return PMPI_Type_size_x(type, &bytes) == MPI_SUCCESS && count * bytes >= static_cast<MPI_Count>(kLargeBytes);
}

int begin_logged_send(const Send& send, MPI_Request* inner) {
  *inner = MPI_REQUEST_NULL;
  const int dest = send.destination;
  // A process that repeats what its predecessor has done must not wait where that one had gone on.
  if (send.start == nullptr || (!are_counted() && is_repeating())) {
    return start_logged_send(send.buffer, send.count, send.type, dest, send.tag, send.comm);
  }
  if (dest == MPI_PROC_NULL) return MPI_SUCCESS;
  const GoingOn call;
  Packed packed;
  const auto begin = [&] {
    return send.start(send.buffer, send.count, send.type, dest, send.tag, now(send.comm), inner);
  };
  int error = MPI_SUCCESS;
  if (!are_counted()) {
    error = log_meanwhile(send.buffer, send.count, send.type, dest, send.tag, send.comm, begin, inner, &packed);
  } else if (count_quickly(dest, send.tag, send.comm)) {
    packed.data = &packed;
  } else {
    error = raise_on(send.comm, log_send(send.buffer, send.count, send.type, dest, send.tag, send.comm, &packed));
  }
  if (error != MPI_SUCCESS || packed.data == nullptr) return error;
  error = begin();
  if (error != MPI_SUCCESS) *inner = MPI_REQUEST_NULL;
  return without_failure(error, dest, send.tag, send.comm);
}

void send_later(MPI_Comm comm, int dest, int tag, const void* content, std::size_t bytes) {
  const auto* const from = static_cast<const std::byte*>(content);
  messages_for_later().push_back({{from, from + bytes}, dest, tag, comm, registry().repairs});
}

void send_what_waits() {
  // Its begin does so.
  const GoingOn call;
}

int meet(MPI_Comm comm) {
  constexpr int kTagOfMeeting = kTagOfCounter + 1;
  const GoingOn call;
  int rank = 0;
  int size = 0;
  (void)real.Comm_rank(now(comm), &rank);
  (void)real.Comm_size(now(comm), &size);
  int error = MPI_SUCCESS;
  // After the turn with distance d each rank knows of 2 d ranks before it that they have come.
  for (int distance = 1; distance < size && error == MPI_SUCCESS; distance *= 2) {
    const int source = (rank - distance + size) % size;
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Message stashed = MPI_MESSAGE_NULL;
    error = take_stashed(comm, source, kTagOfMeeting, &stashed)
                ? real.Imrecv(nullptr, 0, MPI_BYTE, &stashed, requests)
                : real.Irecv(nullptr, 0, MPI_BYTE, source, kTagOfMeeting, now(comm), requests);
    if (error == MPI_SUCCESS) {
      error = real.Isend(nullptr, 0, MPI_BYTE, (rank + distance) % size, kTagOfMeeting, now(comm), requests + 1);
    }
    for (MPI_Request& each : requests) {
      if (error == MPI_SUCCESS) error = wait_and_go_on(&each);
      if (error != MPI_SUCCESS && each != MPI_REQUEST_NULL) drain(&each);
    }
  }
  return error;
}

int greatest_of_all(int value, int* greatest, MPI_Comm comm) {
  return left(logged_Allreduce(&value, greatest, 1, MPI_INT, MPI_MAX, comm));
}

void wait_for_sent_messages() {
  const GoingOn call;
  for (Sent& each : sent_messages()) (void)real.Wait(&each.request, MPI_STATUS_IGNORE);
  sent_messages().clear();
}

int refuse_tag(MPI_Comm comm) {
  return refuse_call(comm, MPI_ERR_TAG, "tags from 0x40000000 on are those of the library where messages are logged");
}

// Each message asks several times, and a program may use several communicators in turn.
std::uint64_t number_of(MPI_Comm comm) {
  struct Known {
    MPI_Comm comm = nullptr;
    unsigned removals = 0;
    std::uint64_t number = 0;
  };
  constexpr std::uint64_t kGoldenRatio = 0x9E3779B97F4A7C15U;
  constexpr unsigned kBits = 7;
  static thread_local std::array<Known, std::size_t{1} << kBits> all_known;
  Known& known = all_known[(reinterpret_cast<std::uintptr_t>(comm) * kGoldenRatio) >> (64U - kBits)];
  Registry& all = registry();
  const unsigned removals = all.removals.load(std::memory_order_acquire);
  if (known.comm == comm && known.removals == removals && known.number != 0) return known.number;
  const std::lock_guard lock(all.mutex);
  const Derived* found = all.find(comm);
  // The id of the resilient communicator is 0.
  known = {comm, removals, found != nullptr ? found->id() + 1 : 0};
  return known.number;
}

std::uint64_t channel_of(MPI_Comm comm) {
  return logs_messages.load(std::memory_order_acquire) ? number_of(comm) : channel_of_log;
}

void set_log(MPI_Comm comm, std::uint64_t channel) {
  forget_quick_messages();
  if (channel != 0) use_services_of_logs();
  channel_of_log = channel;
  comm_of_log.store(channel != 0 ? comm : nullptr, std::memory_order_release);
}

bool repeats_calls() { return is_transparent.load(std::memory_order_acquire) || libfenix().repeats_calls(); }

int leave_logged(int error) {
  if (tells_of_failure(error) && !repeats_calls() && depth_of_calls == 0) libfenix().leave_call(error);
  return error;
}

bool has_log(MPI_Comm comm) { return number_of(comm) != 0; }

bool goes_on() { return depth_of_calls > 0; }

int logged_Send(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  return send(real.Send, real.Isend, buf, count, datatype, dest, tag, comm);
}
// Its copy does not stay in the program's memory: that would have to be waited for, also by MPI_Buffer_detach.
int logged_Bsend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  if (!are_counted()) return start_logged_send(buf, count, datatype, dest, tag, comm);
  return send(real.Bsend, real.Ibsend, buf, count, datatype, dest, tag, comm);
}
int logged_Ssend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  return send(real.Ssend, real.Issend, buf, count, datatype, dest, tag, comm);
}
// After a failure its receiver may not have come to its receive.
int logged_Rsend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  return send(real.Send, real.Isend, buf, count, datatype, dest, tag, comm);
}

int begin_receive(LoggedReceive* receive) {
  const GoingOn call;
  const QuickReceive quick = quick_receive(receive->source, receive->tag, receive->comm);
  if (quick.is_allowed && quick.waited_for == nullptr) {
    receive->number = ++*quick.begun;
    receive->is_logged = false;
    receive->repairs = registry().repairs;
    return MPI_SUCCESS;
  }
  int error = MPI_SUCCESS;
  do {
    int is_logged = 1;
    error = libfenix().begin_receive(receive->source, receive->tag, receive->comm, channel_of(receive->comm),
                                     &receive->number, &is_logged);
    receive->is_logged = is_logged != 0;
    receive->repairs = registry().repairs;
  } while (tells_of_failure(error) && repeats_calls());
  return raise_on(receive->comm, error);
}

void end_receive(const LoggedReceive& receive, const MPI_Status* status) {
  if (!libfenix().notes_ends->load(std::memory_order_acquire)) return;
  libfenix().end_receive(receive.buffer, receive.type, status, receive.source, receive.tag, receive.comm,
                         channel_of(receive.comm), receive.number);
}

void note_found(int source, int tag, MPI_Comm comm, std::uint64_t number) {
  libfenix().note_found(source, tag, comm, channel_of(comm), number);
}

void take_back(bool is_sent, int peer, int tag, MPI_Comm comm) {
  libfenix().take_back(is_sent, peer, tag, comm, channel_of(comm));
}

int find_logged(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  const GoingOn call;
  int error = MPI_SUCCESS;
  do {
    *flag = 0;
    error = libfenix().find_logged(source, tag, comm, channel_of(comm), flag, status);
  } while (tells_of_failure(error) && repeats_calls());
  return error;
}

int receive_from_log(const LoggedReceive& receive, int* flag, MPI_Status* status) {
  *flag = 0;
  if (!receive.is_logged && receive.repairs == registry().repairs) return MPI_SUCCESS;
  const GoingOn call;
  int error = MPI_SUCCESS;
  do {
    *flag = 0;
    error = libfenix().receive_logged(receive.buffer, receive.count, receive.type, receive.source, receive.tag,
                                      receive.comm, channel_of(receive.comm), receive.number, flag, status);
  } while (tells_of_failure(error) && repeats_calls());
  return error;
}

int look_for_logged(const LoggedReceive& receive, MPI_Request* inner, bool only_begins, int* flag, MPI_Status* status) {
  const GoingOn call;
  const unsigned repairs = registry().repairs;
  // Once more if the request is from before an earlier repair: MPI has to know this receive before later ones.
  for (int attempt = 0; attempt < 2; ++attempt) {
    int error = MPI_SUCCESS;
    *flag = 0;
    // Only a repair can bring a message into the log that was not there before, and it ends the request of MPI.
    if (*inner == MPI_REQUEST_NULL) {
      error = receive_from_log(receive, flag, status);
      if (error != MPI_SUCCESS) return raise_on(receive.comm, error);
      if (*flag != 0) end_receive(receive, status);
      // After a repair MPI has to know earlier receives before this one: the caller looks for them first.
      if (*flag != 0 || registry().repairs != repairs) return MPI_SUCCESS;
      MPI_Message stashed = MPI_MESSAGE_NULL;
      error = take_stashed(receive.comm, receive.source, receive.tag, &stashed)
                  ? real.Imrecv(receive.buffer, receive.count, receive.type, &stashed, inner)
                  : real.Irecv(receive.buffer, receive.count, receive.type, receive.source, receive.tag,
                               now(receive.comm), inner);
      if (error == MPI_SUCCESS && only_begins) return MPI_SUCCESS;
    }
    if (error == MPI_SUCCESS) error = real.Test(inner, flag, status);
    if (*flag != 0 && !tells_of_failure(error)) end_receive(receive, status);
    if (!tells_of_failure(error) || !repeats_calls()) return error;
    *inner = MPI_REQUEST_NULL;
    *flag = 0;
  }
  return MPI_SUCCESS;
}

namespace {

/// Ends a receive that a failure has cut short, and that the program may call again.
int without_message(const LoggedReceive& receive, int error) {
  take_back(/*is_sent=*/false, receive.source, receive.tag, receive.comm);
  return error;
}

/// Receives a message that comes from MPI, if the program has no other requests. Returns false if that may not be done here. error: of MPI;
/// after a failure the message may be in a log.
bool receive_quickly(LoggedReceive* receive, MPI_Status* status, int* error) {
  if (stand_ins.load(std::memory_order_acquire) != 0 || is_internal(receive->tag)) return false;
  const QuickReceive quick = quick_receive(receive->source, receive->tag, receive->comm);
  if (!quick.is_allowed) return false;
  const GoingOn call;
  const unsigned generation = quick_generation();
  receive->repairs = registry().repairs;
  receive->number = ++*quick.begun;
  if (quick.waited_for != nullptr) *quick.waited_for = receive->number;
  *error = real.Recv(receive->buffer, receive->count, receive->type, receive->source, receive->tag, now(receive->comm),
                     status);
  if (tells_of_failure(*error)) return true;
  if (quick.waited_for != nullptr && quick_generation() == generation) {
    *quick.waited_for = 0;
  } else {
    end_receive(*receive, status);
  }
  return true;
}

}  // namespace

int logged_Recv(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status* status) {
  if (source == MPI_PROC_NULL) return real.Recv(buf, count, datatype, source, tag, MPI_COMM_SELF, status);
  LoggedReceive receive{buf, count, datatype, source, tag, comm};
  if (is_wildcard(receive) || progress_logged_calls()) return receive_in_turn(receive, status);
  MPI_Status own{};
  if (status == MPI_STATUS_IGNORE) status = &own;
  int error = MPI_SUCCESS;
  if (receive_quickly(&receive, status, &error)) {
    if (!tells_of_failure(error)) return error;
    if (!repeats_calls()) return without_message(receive, error);
  } else {
    error = begin_receive(&receive);
    if (error != MPI_SUCCESS) return error;
  }
  for (;;) {
    const GoingOn call;
    const unsigned repairs = registry().repairs;
    // Receives that the program has begun before come first.
    look_for_earlier_receives();
    int flag = 0;
    int outcome = receive_from_log(receive, &flag, status);
    if (flag != 0) end_receive(receive, status);
    if (flag != 0 || (outcome != MPI_SUCCESS && !tells_of_failure(outcome))) return raise_on(comm, outcome);
    if (registry().repairs != repairs && repeats_calls()) continue;
    if (outcome != MPI_SUCCESS) return without_message(receive, outcome);
    MPI_Message stashed = MPI_MESSAGE_NULL;
    outcome = take_stashed(comm, source, tag, &stashed)
                  ? real.Mrecv(buf, count, datatype, &stashed, status)
                  : real.Recv(buf, count, datatype, source, tag, now(comm), status);
    if (!tells_of_failure(outcome)) {
      end_receive(receive, status);
      return outcome;
    }
    if (!repeats_calls()) return without_message(receive, outcome);
  }
}

namespace {

/// Takes a message back, together with whose receive the program will send it again.
int without_sent(int error, int dest, int tag, MPI_Comm comm) {
  if (tells_of_failure(error) && !repeats_calls() && dest != MPI_PROC_NULL) {
    take_back(/*is_sent=*/true, dest, tag, comm);
  }
  return error;
}

}  // namespace

int logged_Sendrecv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void* recvbuf,
                    int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status* status) {
  MPI_Request sent = MPI_REQUEST_NULL;
  const bool is_begun = dest != MPI_PROC_NULL && is_large(sendcount, sendtype);
  const int error = is_begun ? start_send(real.Isend, sendbuf, sendcount, sendtype, dest, sendtag, comm, &sent)
                             : start_logged_send(sendbuf, sendcount, sendtype, dest, sendtag, comm);
  if (error != MPI_SUCCESS) return error;
  const int received = logged_Recv(recvbuf, recvcount, recvtype, source, recvtag, comm, status);
  if (is_begun) (void)with_stand_ins_Wait(&sent, MPI_STATUS_IGNORE);
  return without_sent(received, dest, sendtag, comm);
}

int logged_Sendrecv_replace(void* buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag,
                            MPI_Comm comm, MPI_Status* status) {
  const int error = start_logged_send(buf, count, datatype, dest, sendtag, comm);
  if (error != MPI_SUCCESS) return error;
  return without_sent(logged_Recv(buf, count, datatype, source, recvtag, comm, status), dest, sendtag, comm);
}

int logged_Irecv(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                 MPI_Request* request) {
  if (source == MPI_PROC_NULL) return real.Irecv(buf, count, datatype, source, tag, MPI_COMM_SELF, request);
  const LoggedReceive receive{buf, count, datatype, source, tag, comm};
  int error = MPI_SUCCESS;
  return begin_counted_receive(receive, request, &error) ? error : start_program_receive(receive, request);
}

int logged_Isendrecv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void* recvbuf,
                     int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
                     MPI_Request* request) {
  const int error = start_logged_send(sendbuf, sendcount, sendtype, dest, sendtag, comm);
  if (error != MPI_SUCCESS) return error;
  return without_sent(logged_Irecv(recvbuf, recvcount, recvtype, source, recvtag, comm, request), dest, sendtag, comm);
}

int logged_Isendrecv_replace(void* buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source,
                             int recvtag, MPI_Comm comm, MPI_Request* request) {
  const int error = start_logged_send(buf, count, datatype, dest, sendtag, comm);
  if (error != MPI_SUCCESS) return error;
  return without_sent(logged_Irecv(buf, count, datatype, source, recvtag, comm, request), dest, sendtag, comm);
}

int logged_Isend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                 MPI_Request* request) {
  return start_send(real.Isend, buf, count, datatype, dest, tag, comm, request);
}
int logged_Ibsend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  return start_send(copies_at_once(), buf, count, datatype, dest, tag, comm, request);
}
int logged_Issend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  return start_send(real.Issend, buf, count, datatype, dest, tag, comm, request);
}
int logged_Irsend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  return start_send(real.Isend, buf, count, datatype, dest, tag, comm, request);
}

int logged_Send_init(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                     MPI_Request* request) {
  return init_send(real.Isend, buf, count, datatype, dest, tag, comm, request);
}
int logged_Bsend_init(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                      MPI_Request* request) {
  return init_send(copies_at_once(), buf, count, datatype, dest, tag, comm, request);
}
int logged_Ssend_init(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                      MPI_Request* request) {
  return init_send(real.Issend, buf, count, datatype, dest, tag, comm, request);
}
int logged_Rsend_init(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                      MPI_Request* request) {
  return init_send(real.Isend, buf, count, datatype, dest, tag, comm, request);
}

int logged_Recv_init(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                     MPI_Request* request) {
  if (source == MPI_PROC_NULL) return real.Recv_init(buf, count, datatype, source, tag, MPI_COMM_SELF, request);
  return init_logged_receive({buf, count, datatype, source, tag, comm}, request);
}

}  // namespace fenix_impl
