// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/logged/collectives.hpp"

#include <algorithm>
#include <list>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "base/backoff.hpp"
#include "base/error.hpp"
#include "mpi/base/derived.hpp"
#include "mpi/base/log_scope.hpp"
#include "mpi/base/stand_in_table.hpp"
#include "mpi/logged/collective_schedule.hpp"
#include "mpi/logged/receive_queue.hpp"
#include "mpi/logged/receive_step.hpp"
#include "mpi/logged/sends.hpp"

namespace fenix_impl {
namespace {

/// An operation that is under way.
class Operation {
 public:
  Operation(const Collective& call, int tag) : schedule_(call, now(call.comm)), comm_(call.comm), tag_(tag) {
    next_ = schedule_.rounds().begin();
  }
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  [[nodiscard]] MPI_Comm comm() const { return comm_; }
  [[nodiscard]] int tag() const { return tag_; }
  [[nodiscard]] int error() const { return error_; }
  /// Goes on as far as is possible without a wait. Returns whether the operation has ended.
  bool progress();

 private:
  struct Received {
    LoggedReceive receive;
    MPI_Request inner = MPI_REQUEST_NULL;
    bool is_done = false;
  };

  int begin_round();
  void take_back();
  int send(const Transfer& transfer);
  /// Looks for messages of the round. Returns an error of MPI.
  int look();
  int look_at_sent();
  [[nodiscard]] bool has_all() const {
    return sent_.empty() &&
           std::all_of(received_.begin(), received_.end(), [](const Received& each) { return each.is_done; });
  }

  CollectiveSchedule schedule_;
  std::deque<Round>::const_iterator next_;
  bool has_begun_ = false;  // the round
  std::vector<Received> received_;
  std::vector<MPI_Request> sent_;               // of messages that go from where they are
  std::vector<std::pair<bool, int>> numbered_;  // messages: whether sent, and the rank
  unsigned repairs_ = registry().repairs;       // when MPI was told of the receives of the round
  MPI_Comm comm_;
  int tag_;
  int error_ = MPI_SUCCESS;
};

int Operation::send(const Transfer& transfer) {
  const auto& [rank, buffer, count, type] = transfer;
  if (!has_many_bytes(count, type)) return start_logged_send({buffer, count, type, rank, tag_, comm_});
  Started begun;
  const int error = begin_logged_send({{buffer, count, type, rank, tag_, comm_}, real.Isend}, &begun);
  if (begun.inner != MPI_REQUEST_NULL) sent_.push_back(begun.inner);
  return error;
}

int Operation::begin_round() {
  for (const Transfer& each : next_->sent) {
    const int error = send(each);
    if (error != MPI_SUCCESS) return error;
    numbered_.emplace_back(true, each.rank);
  }
  received_.clear();
  for (const Transfer& each : next_->received) {
    Received& received = received_.emplace_back();
    received.receive = {{each.buffer, each.count, each.type, each.rank, tag_, comm_}};
    const int error = begin_receive(&received.receive);
    if (error != MPI_SUCCESS) return error;
    numbered_.emplace_back(false, each.rank);
  }
  return MPI_SUCCESS;
}

// A failure has cut the operation short, and the program may call it again: then all its messages come from the logs.
void Operation::take_back() {
  for (const auto& [is_sent, rank] : numbered_) fenix_impl::take_back(is_sent, rank, tag_, comm_);
}

// In their order: MPI has to know receives from the same rank in the order of their messages.
int Operation::look() {
  if (repairs_ != registry().repairs) {
    for (Received& each : received_) {
      if (each.inner != MPI_REQUEST_NULL) drain(&each.inner);
    }
    // Their receivers get these messages from the log.
    for (MPI_Request& each : sent_) drain(&each);
    sent_.clear();
    repairs_ = registry().repairs;
  }
  if (const int error = look_at_sent(); error != MPI_SUCCESS) return error;
  for (Received& each : received_) {
    if (each.is_done) continue;
    if (repairs_ != registry().repairs && repeats_calls()) return MPI_SUCCESS;
    int flag = 0;
    MPI_Status status{};
    const int error = look_for_logged(each.receive, &each.inner, /*only_begins=*/false, &flag, &status);
    if (error != MPI_SUCCESS) return error;
    each.is_done = flag != 0;
  }
  return MPI_SUCCESS;
}

/// Forgets messages that MPI has sent. Returns an error of MPI.
int Operation::look_at_sent() {
  const RepeatableCall call;
  while (!sent_.empty()) {
    int flag = 0;
    const int error = real.Test(&sent_.back(), &flag, MPI_STATUS_IGNORE);
    if (error == MPI_SUCCESS && flag == 0) break;
    sent_.pop_back();
    if (error != MPI_SUCCESS && (!tells_of_failure(error) || !repeats_calls())) return error;
  }
  return MPI_SUCCESS;
}

bool Operation::progress() {
  while (error_ == MPI_SUCCESS && next_ != schedule_.rounds().end()) {
    if (!has_begun_) error_ = begin_round();
    has_begun_ = true;
    if (error_ == MPI_SUCCESS) error_ = look();
    if (error_ != MPI_SUCCESS || !has_all()) break;
    try {
      if (next_->then) next_->then();
    } catch (const MpiError& failed) {
      error_ = failed.mpi_error();
    }
    ++next_;
    has_begun_ = false;
  }
  if (error_ != MPI_SUCCESS) {
    for (MPI_Request& each : sent_) drain(&each);
    sent_.clear();
  }
  if (tells_of_failure(error_)) take_back();
  return error_ != MPI_SUCCESS || next_ == schedule_.rounds().end();
}

/// Makes a request of a collective operation that is made of logged messages. It is pending, or inactive if it can be started again and
/// again.
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

/// An operation for which the program has a request.
struct Requested {
  std::unique_ptr<Operation> operation;
  MPI_Request request = MPI_REQUEST_NULL;
  bool waits = false;  ///< for the end of an earlier one with the same tag
};

std::list<Requested>& under_way() {
  static auto* instance = new std::list<Requested>;
  return *instance;
}

/// Returns the first operation with a tag from a place on.
std::list<Requested>::iterator find_from(std::list<Requested>::iterator from, MPI_Comm comm, int tag) {
  return std::find_if(from, under_way().end(), [comm, tag](const Requested& each) {
    return each.operation->comm() == comm && each.operation->tag() == tag;
  });
}

/// Returns the tag of the next operation on a communicator that does not wait. All ranks call them in the same order.
int next_tag(MPI_Comm comm, int* tag) {
  int rank = 0;
  (void)real.Comm_rank(now(comm), &rank);
  // The number is one of this rank's numbers of messages, and so it is kept with these.
  LoggedReceive counter;
  counter.source = rank;
  counter.tag = kTagOfCounter;
  counter.comm = comm;
  const int error = begin_receive(&counter);
  if (error == MPI_SUCCESS) end_receive(counter, nullptr);
  *tag = kFirstInternalTag + 1 + static_cast<int>(counter.number % (kTagsOfCollectives - 1));
  return error;
}

/// Begins an operation. Returns an error of MPI.
int begin(const Collective& call, int tag, std::unique_ptr<Operation>* operation) {
  try {
    *operation = std::make_unique<Operation>(call, tag);
    return MPI_SUCCESS;
  } catch (const MpiError& wrong) {
    return wrong.mpi_error();
  } catch (const std::bad_alloc&) {
    return MPI_ERR_NO_MEM;
  }
}

int begin_requested(const Collective& call, MPI_Request request) {
  int tag = 0;
  int error = next_tag(call.comm, &tag);
  std::unique_ptr<Operation> operation;
  if (error == MPI_SUCCESS) error = begin(call, tag, &operation);
  if (error != MPI_SUCCESS) return error;
  // Messages of two operations with the same tag must not be mixed up. All ranks have them in the same order.
  const bool waits = find_from(under_way().begin(), call.comm, tag) != under_way().end();
  under_way().push_back({std::move(operation), request, waits});
  progress_logged_collectives();
  return MPI_SUCCESS;
}

}  // namespace

void progress_logged_collectives() {
  for (auto each = under_way().begin(); each != under_way().end();) {
    if (!each->waits && each->operation->progress()) {
      const std::unique_ptr<Operation> ended = std::move(each->operation);
      set_done(each->request, ended->error(), {});
      each = under_way().erase(each);
      const auto next = find_from(each, ended->comm(), ended->tag());
      if (next != under_way().end()) next->waits = false;
    } else {
      ++each;
    }
  }
}

bool has_logged_collectives() { return !under_way().empty(); }

void forget_logged_collectives() { under_way().clear(); }

int run_collective(const Collective& call, void (*meanwhile)()) {
  std::unique_ptr<Operation> operation;
  int error = begin(call, kFirstInternalTag, &operation);
  if (error == MPI_SUCCESS) {
    for (const Backoff backoff; !operation->progress(); backoff.pause()) meanwhile();
    error = operation->error();
  }
  return raise_on(call.comm, error);
}

int start_logged_collective(const Collective& call, MPI_Request* request) {
  int error = make_logged_collective(call, /*is_used_once=*/true, request);
  if (error == MPI_SUCCESS) error = begin_requested(call, *request);
  return raise_on(call.comm, error);
}

int init_logged_collective(const Collective& call, MPI_Request* request) {
  return raise_on(call.comm, make_logged_collective(call, /*is_used_once=*/false, request));
}

int restart_logged_collective(const Collective& call, MPI_Request request) {
  return raise_on(call.comm, begin_requested(call, request));
}

}  // namespace fenix_impl
