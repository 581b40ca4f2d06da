// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/line_protocol.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "base/fault.hpp"
#include "rma/mpi_errors.hpp"
#include "rma/mpi_team.hpp"

namespace fenix_impl {
namespace {

// Besides those of MpiTeam, which has the communicator as well.
enum Tag : int { kRequest = 17, kCounts, kBeyond, kReady, kStored };

/// Whether a request is done; MPI_REQUEST_NULL is.
bool is_done(MPI_Request* request) {
  int flag = 0;
  check_mpi(MPI_Test(request, &flag, MPI_STATUS_IGNORE), "MPI_Test");
  return flag != 0;
}

/// Leaves a request whose peer may never do its part.
void leave(MPI_Request* request, bool is_receive) {
  if (*request == MPI_REQUEST_NULL) return;
  if (is_receive) MPI_Cancel(request);
  MPI_Request_free(request);
}

}  // namespace

// -------------------------------------------------------------------------------------------------------------------- barrier

void SplitBarrier::begin(MPI_Comm comm, int tag, std::uint32_t line, bool refuses) {
  comm_ = comm;
  tag_ = tag;
  round_->own = {line, refuses ? 1U : 0U};
  MPI_Comm_rank(comm, &rank_);
  MPI_Comm_size(comm, &size_);
  distance_ = 1;
  if (distance_ < size_) begin_round();
}

void SplitBarrier::begin_round() {
  fault_point("line.round");
  const int from = (rank_ - distance_ + size_) % size_;
  check_mpi(MPI_Irecv(&round_->other, 2, MPI_UINT32_T, from, tag_, comm_, &round_->received), "MPI_Irecv");
  check_mpi(MPI_Isend(&round_->own, 2, MPI_UINT32_T, (rank_ + distance_) % size_, tag_, comm_, &round_->sent),
            "MPI_Isend");
}

bool SplitBarrier::step() {
  while (distance_ < size_) {
    if (!is_done(&round_->received) || !is_done(&round_->sent)) return false;
    // Claims 1.1 and 2.1 of Bronevetsky et al.: nobody stops logging before all are beyond the line.
    assert(round_->other.line == round_->own.line);
    round_->own.refusals |= round_->other.refusals;
    distance_ *= 2;
    if (distance_ < size_) begin_round();
  }
  return true;
}

// MPI may still read and write the numbers of a round that is left.
void SplitBarrier::abandon() noexcept {
  if (round_->sent == MPI_REQUEST_NULL && round_->received == MPI_REQUEST_NULL) return;
  leave(&round_->received, true);
  leave(&round_->sent, false);
  static auto* left = new std::list<std::unique_ptr<Round>>;
  left->push_back(std::move(round_));
}

// -------------------------------------------------------------------------------------------------------------------- control

LineControl::LineControl(MPI_Comm comm, std::uint32_t line)
    : comm_(comm), line_(line), passed_(line), requested_(line) {
  MPI_Comm_rank(comm, &rank_);
  MPI_Comm_size(comm, &size_);
  if (rank_ > 0) {
    check_mpi(MPI_Irecv(nullptr, 0, MPI_BYTE, (rank_ - 1) / 2, kRequest, comm_, &request_), "MPI_Irecv");
  }
}

// MPI may still read the counts that nobody has received.
LineControl::~LineControl() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized != 0) return;
  leave(&request_, true);
  barrier_.abandon();
  for (Message& each : coming_) leave(&each.request, true);
  if (sent_.empty() && coming_.empty()) return;
  static auto* left = new std::list<Message>;
  left->splice(left->end(), coming_);
  for (Message& each : sent_) leave(&each.request, false);
  left->splice(left->end(), sent_);
}

void LineControl::request() { ++requested_; }

// Down a tree, so that no rank has to tell more than two.
void LineControl::pass_on() {
  ++line_;
  for (const int child : {2 * rank_ + 1, 2 * rank_ + 2}) {
    if (child >= size_) break;
    MPI_Request sent = MPI_REQUEST_NULL;
    check_mpi(MPI_Isend(nullptr, 0, MPI_BYTE, child, kRequest, comm_, &sent), "MPI_Isend");
    MPI_Request_free(&sent);
  }
  fault_point("line.asked");
}

bool LineControl::is_requested() {
  if (line_ > passed_) return true;
  // No checkpoint while one is not complete everywhere (Bronevetsky et al., 2.1).
  if (phase_ != Phase::idle) return false;
  if (rank_ == 0) {
    if (requested_ > line_) pass_on();
  } else if (is_done(&request_)) {
    check_mpi(MPI_Irecv(nullptr, 0, MPI_BYTE, (rank_ - 1) / 2, kRequest, comm_, &request_), "MPI_Irecv");
    pass_on();
  }
  return line_ > passed_;
}

void LineControl::pass(const std::map<int, std::vector<FlowCount>>& sent) {
  passed_ = line_;
  phase_ = Phase::telling;
  are_beyond_ = false;
  refuses_ = false;
  told_.clear();
  // Synchronous: they are done when their receivers have them, so that a barrier behind them tells that all counts have come.
  for (const auto& [rank, counts] : sent) {
    Message& message = sent_.emplace_back();
    message.counts = counts;
    check_mpi(MPI_Issend(message.counts.data(), static_cast<int>(counts.size() * sizeof(FlowCount)), MPI_BYTE, rank,
                         kCounts, comm_, &message.request),
              "MPI_Issend");
  }
}

// No other rank can be beyond the barrier that this one has not begun. All learn of it there.
void LineControl::refuse() {
  pass({});
  refuses_ = true;
}

bool LineControl::forget_those_done(std::list<Message>& messages) {
  messages.remove_if([](Message& each) { return is_done(&each.request); });
  return messages.empty();
}

void LineControl::receive_counts() {
  for (;;) {
    int flag = 0;
    MPI_Message found = MPI_MESSAGE_NULL;
    MPI_Status status{};
    check_mpi(MPI_Improbe(MPI_ANY_SOURCE, kCounts, comm_, &flag, &found, &status), "MPI_Improbe");
    if (flag == 0) break;
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    Message& message = coming_.emplace_back();
    message.counts.resize(static_cast<std::size_t>(bytes) / sizeof(FlowCount));
    check_mpi(MPI_Imrecv(message.counts.data(), bytes, MPI_BYTE, &found, &message.request), "MPI_Imrecv");
  }
  for (auto each = coming_.begin(); each != coming_.end();) {
    if (is_done(&each->request)) {
      told_.insert(told_.end(), each->counts.begin(), each->counts.end());
      each = coming_.erase(each);
    } else {
      ++each;
    }
  }
}

void LineControl::step() {
  if (phase_ == Phase::telling || (phase_ == Phase::gathering && !are_beyond_)) receive_counts();
  if (phase_ == Phase::telling && forget_those_done(sent_)) {
    phase_ = Phase::gathering;
    fault_point("line.told");
    barrier_.begin(comm_, kBeyond, passed_, refuses_);
  }
  if (phase_ == Phase::gathering && !are_beyond_) are_beyond_ = barrier_.step();
  if (phase_ == Phase::gathering && are_beyond_) {
    // The counts of all others are here, or on their last steps: their senders know that they have been matched.
    receive_counts();
    if (coming_.empty()) phase_ = barrier_.is_refused() ? Phase::refused : Phase::logging;
  }
  if (phase_ == Phase::stopping && barrier_.step()) phase_ = Phase::stopped;
  if (phase_ == Phase::ending && barrier_.step()) phase_ = Phase::idle;
}

void LineControl::stop() {
  barrier_.begin(comm_, kReady, passed_);
  phase_ = Phase::stopping;
  step();
}

void LineControl::end() {
  barrier_.begin(comm_, kStored, passed_);
  phase_ = Phase::ending;
  step();
}

}  // namespace fenix_impl
