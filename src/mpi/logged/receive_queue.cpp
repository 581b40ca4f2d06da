// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/logged/receive_queue.hpp"

#include <sched.h>
#include <mpi-ext.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/of_thread.hpp"
#include "mpi/base/derived.hpp"
#include "mpi/base/handles.hpp"
#include "mpi/base/real.hpp"
#include "mpi/base/stand_in_table.hpp"
#include "mpi/logged/fast_requests.hpp"
#include "mpi/logged/outcomes.hpp"
#include "mpi/logged/receive_step.hpp"
#include "mpi/logged/stash.hpp"

namespace fenix_impl {
namespace {

using Pending = std::pair<std::uint64_t, MPI_Request>;  // order, request

bool takes(const LoggedReceive& receive, MPI_Comm comm, int source, int tag) {
  return receive.comm == comm && (receive.source == MPI_ANY_SOURCE || receive.source == source) &&
         (receive.tag == MPI_ANY_TAG ? !is_internal(tag) : receive.tag == tag);
}

/// Whether there are messages that both receives could get.
bool overlap(const LoggedReceive& one, const LoggedReceive& other) {
  const bool same_source = one.source == other.source || one.source == MPI_ANY_SOURCE || other.source == MPI_ANY_SOURCE;
  const auto meets = [](int wanted, int tag) { return wanted == MPI_ANY_TAG && !is_internal(tag); };
  return one.comm == other.comm && same_source &&
         (one.tag == other.tag || meets(one.tag, other.tag) || meets(other.tag, one.tag));
}

/// Returns the first unmatched receive that suits, in the order in which they have begun; or MPI_REQUEST_NULL.
template <class Suits>
MPI_Request first_unmatched(const Suits& suits) {
  const auto lock = lock_stand_ins();
  StandInTable& table = stand_in_table();
  for (const auto& [order, request] : table.unmatched) {
    if (suits(table.requests.at(request))) return request;
  }
  return MPI_REQUEST_NULL;
}

// -------------------------------------------------------------------------------------------------------------------- matching

/// Gives a message to a receive. message: MPI_MESSAGE_NULL if it is in a log.
int give(MPI_Request target, int source, int tag, MPI_Message message) {
  auto stand_in = find_stand_in(target);
  LoggedReceive& receive = stand_in->queued.receive;
  const bool was_free = is_wildcard(receive);
  receive.source = source;
  receive.tag = tag;
  int error = begin_receive(&receive);
  if (error == MPI_SUCCESS && was_free) note_found(source, tag, receive.comm, receive.number);
  if (error == MPI_SUCCESS && was_free) error = note_match(receive.receive, source, tag);
  MPI_Request inner = MPI_REQUEST_NULL;
  const unsigned repairs = registry().repairs;
  if (error == MPI_SUCCESS && message != MPI_MESSAGE_NULL) {
    error = real.Imrecv(receive.buffer, receive.count, receive.type, &message, &inner);
    receive.was_probed = true;
    if (tells_of_failure(error)) {
      // It is in the log now.
      inner = MPI_REQUEST_NULL;
      error = MPI_SUCCESS;
    }
  }
  update_receive(target, receive, inner, repairs);
  if (error != MPI_SUCCESS) set_done(target, error, {});
  return error;
}

/// Looks for a message for a receive with a wildcard. Messages that come before it are given to the receives that are to have them.
/// repairs: their number when MPI was told of earlier receives. Otherwise it could take their messages.
void match(MPI_Request request, const LoggedReceive& receive, unsigned repairs) {
  const RepeatableCall call;
  for (;;) {
    int flag = 0;
    MPI_Status status{};
    int error = find_logged(receive.source, receive.tag, receive.comm, &flag, &status);
    MPI_Message message = MPI_MESSAGE_NULL;
    if (error == MPI_SUCCESS && flag == 0) {
      if (registry().repairs != repairs) return;
      error = real.Improbe(receive.source, receive.tag, now(receive.comm), &flag, &message, &status);
      const bool has_failed = tells_of_failure(error);
      if (has_failed || (error == MPI_SUCCESS && flag == 0)) {
        // After a failure, the receive ends with it in its next look.
        (void)note_look_in_vain(has_failed);
        return;
      }
    }
    if (error != MPI_SUCCESS) return set_done(request, error, status);
    if (is_internal(status.MPI_TAG)) {
      keep_in_stash(receive.comm, status.MPI_SOURCE, status.MPI_TAG, message);
      continue;
    }
    const MPI_Request target = first_unmatched([&](const StandIn& each) {
      return takes(each.queued.receive, receive.comm, status.MPI_SOURCE, status.MPI_TAG);
    });
    (void)give(target, status.MPI_SOURCE, status.MPI_TAG, message);
    if (target == request) return;
  }
}

/// Whether a receive has to wait for an earlier one with a wildcard, which may get the message that it would get.
bool is_behind(const StandIn& receive) {
  return first_unmatched([&](const StandIn& each) {
           return each.queued.order < receive.queued.order && is_wildcard(each.queued.receive) &&
                  overlap(each.queued.receive, receive.queued.receive);
         }) != MPI_REQUEST_NULL;
}

/// Ends a receive with the error of a failure that has been repaired. The program may begin it again.
void end_after_repair(MPI_Request request, const StandIn& receive) {
  const LoggedReceive& logged = receive.queued.receive;
  if (logged.number != 0) take_back(/*is_sent=*/false, logged.source, logged.tag, logged.comm);
  set_done(request, MPIX_ERR_REVOKED, {});
}

/// The number of repairs after which MPI knew all receives that had begun; −1: it may not know all.
constinit std::atomic<std::int64_t> known_after{-1};

void note_known(bool are_all, unsigned repairs) {
  known_after.store(are_all ? std::int64_t{repairs} : -1, std::memory_order_relaxed);
}

/// Whether MPI knows all receives that have begun. Never where another thread may be beginning one.
bool knows_all_receives() {
  return known_after.load(std::memory_order_relaxed) == std::int64_t{registry().repairs} && !calls_may_overlap();
}

/// The number of repairs after which all receives that had begun were looked at in turn; −1: never.
constinit std::atomic<std::int64_t> looked_in_turn_after{-1};

/// Looks whether the message of a receive is there. only_begins: lets MPI know of the receive, and does not look again then.
void look(MPI_Request request, unsigned repairs, bool only_begins) {
  auto stand_in = find_stand_in(request);
  if (!stand_in || stand_in->state != StandIn::State::pending || stand_in->queued.receive.will_be_cancelled) return;
  if (stand_in->queued.begun_after != registry().repairs && !repeats_calls())
    return end_after_repair(request, *stand_in);
  if (stand_in->inner != MPI_REQUEST_NULL && stand_in->repairs != repairs) {
    drain(&stand_in->inner);
    update_receive(request, stand_in->queued.receive, MPI_REQUEST_NULL, repairs);
    if (registry().repairs != repairs) return;
  }
  if (stand_in->queued.receive.number == 0) {
    if (is_wildcard(stand_in->queued.receive)) {
      match(request, stand_in->queued.receive, repairs);
    } else if (!is_behind(*stand_in)) {
      const int error = begin_receive(&stand_in->queued.receive);
      if (error != MPI_SUCCESS) return set_done(request, error, {});
      update_receive(request, stand_in->queued.receive, MPI_REQUEST_NULL, repairs);
    }
    stand_in = find_stand_in(request);
    if (!stand_in || stand_in->state != StandIn::State::pending || stand_in->queued.receive.number == 0) return;
    if (registry().repairs != repairs) return;
  }
  int flag = 0;
  MPI_Status status{};
  const int error = look_for_logged(stand_in->queued.receive, &stand_in->inner, only_begins, &flag, &status);
  if (tells_of_failure(error)) return end_after_repair(request, *stand_in);
  if (stand_in->inner == MPI_REQUEST_NULL && flag == 0) note_known(false, repairs);
  update_receive(request, stand_in->queued.receive, stand_in->inner, repairs);
  if (error != MPI_SUCCESS || flag != 0) set_done(request, error, status);
}

/// Whether MPI knows a receive, or its message is there.
bool is_known(MPI_Request request) {
  const auto stand_in = find_stand_in(request);
  return !stand_in || stand_in->state != StandIn::State::pending || stand_in->inner != MPI_REQUEST_NULL;
}

/// Patterns of receives with wildcards for which a pass over all has found no message. Later ones with the same pattern need no look of their own,
/// and those with other patterns have to wait for the next pass if there are many: looks would take nearly all the time.
class PatternsInVain {
 public:
  /// order: of the receive.
  [[nodiscard]] bool are_skipped(std::uint64_t order, const LoggedReceive& receive) const {
    const auto end = known_.begin() + count_;
    return order < first_due_ || end == known_.end() ||
           std::find(known_.begin(), end, Pattern{receive.comm, receive.source, receive.tag}) != end;
  }
  void note(std::uint64_t order, const LoggedReceive& receive) {
    known_[static_cast<std::size_t>(count_++)] = {receive.comm, receive.source, receive.tag};
    if (known_.begin() + count_ == known_.end()) first_due_later_ = order + 1;
  }
  /// Ends a pass: the next one goes on where this one had enough.
  void end() { first_due() = first_due_later_; }

 private:
  static std::uint64_t& first_due() {
    static thread_local std::uint64_t order = 0;
    return order;
  }

  struct Pattern {
    MPI_Comm comm = MPI_COMM_NULL;
    int source = 0;
    int tag = 0;
    bool operator==(const Pattern&) const = default;
  };
  std::array<Pattern, 16> known_{};
  std::ptrdiff_t count_ = 0;
  std::uint64_t first_due_ = first_due();
  std::uint64_t first_due_later_ = 0;
};

/// Whether a receive with a wildcard has no message yet.
bool is_unmatched(const std::optional<StandIn>& stand_in) {
  return stand_in && stand_in->state == StandIn::State::pending && stand_in->queued.receive.number == 0 &&
         is_wildcard(stand_in->queued.receive);
}

/// Looks for all messages, and returns whether there was a repair meanwhile. only_begins: looks only for those of receives that MPI does not
/// know yet.
bool look_for_all(bool only_begins) {
  auto& pending = of_thread<std::vector<Pending>>();
  const unsigned repairs = registry().repairs;
  pending.clear();
  {
    const auto lock = lock_stand_ins();
    for (const auto& [request, stand_in] : stand_in_table().requests) {
      const bool is_one = stand_in.kind == StandIn::Kind::logged_receive && stand_in.state == StandIn::State::pending;
      const bool has_begun = stand_in.inner != MPI_REQUEST_NULL && stand_in.repairs == repairs;
      if (is_one && !(only_begins && has_begun)) pending.emplace_back(stand_in.queued.order, request);
    }
  }
  std::sort(pending.begin(), pending.end());
  bool are_known = true;
  PatternsInVain in_vain;
  for (const auto& [order, request] : pending) {
    const auto before = find_stand_in(request);
    if (is_unmatched(before) && in_vain.are_skipped(order, before->queued.receive)) {
      are_known = false;
      continue;
    }
    look(request, repairs, only_begins);
    if (registry().repairs != repairs) return true;
    if (is_unmatched(before) && is_unmatched(find_stand_in(request))) in_vain.note(order, before->queued.receive);
    are_known = are_known && is_known(request);
  }
  in_vain.end();
  if (only_begins) note_known(are_known, repairs);
  looked_in_turn_after.store(std::int64_t{repairs}, std::memory_order_relaxed);
  return false;
}

/// Looks for the message of one receive. A repair takes all receives away from MPI, and they have to come back in their order. This one may not
/// be the first.
void look_alone(MPI_Request request) {
  unsigned repairs = registry().repairs;
  while (looked_in_turn_after.load(std::memory_order_relaxed) != std::int64_t{repairs}) {
    (void)look_for_all(/*only_begins=*/true);
    repairs = registry().repairs;
  }
  look(request, repairs, /*only_begins=*/false);
}

/// Whether a logged receive has begun, and has no message yet.
bool has_pending_receives() {
  const auto lock = lock_stand_ins();
  const auto& requests = stand_in_table().requests;
  return std::any_of(requests.begin(), requests.end(), [](const auto& each) {
    return each.second.kind == StandIn::Kind::logged_receive && each.second.state == StandIn::State::pending;
  });
}

}  // namespace

void update_receive(MPI_Request request, const LoggedReceive& receive, MPI_Request inner, unsigned repairs) {
  const auto lock = lock_stand_ins();
  const auto found = stand_in_table().requests.find(request);
  if (found == stand_in_table().requests.end()) return;
  found->second.queued.receive = receive;
  found->second.inner = inner;
  found->second.repairs = repairs;
  if (receive.number != 0) stand_in_table().unmatched.erase(found->second.queued.order);
}

int note_match(std::uint64_t receive, int source, int tag) {
  return call_libfenix([&](const PersistServices& libfenix) { return libfenix.note_match(receive, source, tag); });
}

int note_look_in_vain(bool has_failed) {
  constexpr unsigned kLooksAtOnce = 16;
  static thread_local unsigned looks = 0;
  if (!has_failed && ++looks % kLooksAtOnce != 0) return MPI_SUCCESS;
  const int error = look_at_wait(PMPI_Wtime());
  return tells_of_failure(error) ? error : MPI_SUCCESS;
}

void drain(MPI_Request* inner) {
  const RepeatableCall call;
  constexpr double kMostSeconds = 10.0;
  for (const double since = PMPI_Wtime(); PMPI_Wtime() - since < kMostSeconds; sched_yield()) {
    int flag = 0;
    if (real.Test(inner, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS || flag != 0) break;
  }
  *inner = MPI_REQUEST_NULL;
}

void begin_earlier_receives() {
  make_stand_ins_after_repair();
  if (knows_all_receives()) return;
  while (look_for_all(/*only_begins=*/true)) {
  }
}

void begin_after_earlier_ones(MPI_Request request) {
  const unsigned repairs = registry().repairs;
  const bool are_in_turn = looked_in_turn_after.load(std::memory_order_relaxed) == std::int64_t{repairs};
  const bool are_known = knows_all_receives();
  const bool is_alone = are_known || (are_in_turn && is_unmatched(find_stand_in(request)));
  note_known(false, repairs);
  if (!is_alone) return begin_earlier_receives();
  look(request, repairs, /*only_begins=*/true);
  note_known(are_known && is_known(request), repairs);
}

void begin_with_earlier_ones() {
  note_known(false, registry().repairs);
  begin_earlier_receives();
}

void look_for_all_receives() {
  while (look_for_all(/*only_begins=*/false)) {
  }
}

void look_for_freed_receives() {
  auto& freed = of_thread<std::vector<MPI_Request>>();
  freed.clear();
  {
    const auto lock = lock_stand_ins();
    for (const auto& [request, stand_in] : stand_in_table().requests) {
      if (stand_in.is_freed) freed.push_back(request);
    }
  }
  for (const MPI_Request each : freed) look_alone(each);
}

bool receives_need_progress() { return !knows_all_receives() && has_pending_receives(); }

void look_for_receive_in_turn(MPI_Request request) { look_alone(request); }

bool is_for_begun_receive(MPI_Comm comm, int source, int tag) {
  return first_unmatched([&](const StandIn& each) { return takes(each.queued.receive, comm, source, tag); }) !=
         MPI_REQUEST_NULL;
}

bool has_unmatched_receives() {
  if (stand_ins.load(std::memory_order_acquire) == 0) return false;
  const auto lock = lock_stand_ins();
  return !stand_in_table().unmatched.empty();
}

}  // namespace fenix_impl
