// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/checkpoints.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "base/backoff.hpp"
#include "base/deadline.hpp"
#include "base/environment.hpp"
#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/log.hpp"
#include "core/common/meeting.hpp"
#include "interposition/interposer.hpp"

namespace fenix_impl {
namespace {

// Nanoseconds. Reading it costs a few of them; it goes on every few milliseconds.
std::int64_t coarse_time() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return std::int64_t{1'000'000'000} * now.tv_sec + now.tv_nsec;
}

}  // namespace

std::optional<double> Checkpoints::interval_of_environment() {
  constexpr environment::Name kName("FENIX_CHECKPOINT_INTERVAL");
  if (!environment::is_set(kName)) return 0;
  return environment::parse(*kName, environment::text(kName));
}

// A count of 0 on some ranks only says that they have no elements: it is for all ranks to say what may change.
void Checkpoints::require_fixed_sizes(Group& group, int log_member) {
  std::vector<const Member*> members;
  std::vector<std::uint8_t> fixed;
  for (const auto& member : group.members()) {
    if (member->id() == log_member) continue;
    members.push_back(member.get());
    fixed.push_back(member->may_be_resizeable() ? 0 : 1);
  }
  const auto on_some = group.attachment().team().reduce_lists(
      std::span<const std::uint8_t>(fixed), [](std::vector<std::uint8_t>& into, std::span<const std::uint8_t> from) {
        for (std::size_t i = 0; i < std::min(into.size(), from.size()); ++i) into[i] |= from[i];
      });
  for (std::size_t i = 0; i < std::min(members.size(), on_some.size()); ++i) {
    if (on_some[i] != 0) continue;
    throw Error(FENIX_ERROR_INVALID_ARGUMENT,
                "group_id: " + name_of(*members[i]) + " is FENIX_RESIZEABLE: its stores would wait for other ranks");
  }
}

void Checkpoints::begin(bool goes_on, GroupOf group, int log_member) {
  clear();
  interval_ = interval_of_environment().value_or(0);
  team_ = teams_.make(process_.resilient()).team;
  group_ = std::move(group);
  log_member_ = log_member;
  agree_on_sizes();
  LineRecord record;
  if (goes_on) record = LineRecord::decode(memory_);
  for (const FlowCount& each : record.sent) sent_[each.flow] = each.count;
  for (const FlowCount& each : record.received) received_[each.flow] = each.count;
  for (const FlowCount& each : record.sent) peers_[each.flow] = each.peer;
  for (const FlowCount& each : record.received) peers_[each.flow] = each.peer;
  receives_ = record.receives;
  together(*team_, [&] {
    exchange_counts(record);
    force_outcomes(record);
  });
  late_ = std::move(record.late);
  control_ = std::make_unique<LineControl>(team_->comm(), 0);
  next_request_ = MPI_Wtime() + interval_;
  active_.store(true, std::memory_order_release);
  if (!goes_on) return;
  log().info("checkpoint: goes on, {} messages come from the log, {} are not sent again", late_.size(), open_early_);
  fault_point("line.resumed");
}

// The first store of a member waits for all ranks, and no checkpoint may wait. This one stores nothing.
void Checkpoints::agree_on_sizes() {
  Group& group = group_();
  std::vector<Member*> members;
  for (const auto& member : group.members()) members.push_back(member.get());
  group.stores().store(members, Selection::some({}));
}

void Checkpoints::finish() {
  if (!is_active()) throw Error(FENIX_ERROR_INVALID_LOGIC_CALL, "no checkpoints have begun");
  struct Outcome {
    std::uint32_t passed = 0;
    std::int32_t error = FENIX_SUCCESS;
  };
  const Outcome mine{control_->passed(), broken_ ? broken_->code() : FENIX_SUCCESS};
  const Outcome all = team_->reduce(mine, [](Outcome& into, const Outcome& from) {
    into = {std::min(into.passed, from.passed), std::min(into.error, from.error)};
  });
  if (broken_) throw Error(*broken_);
  if (all.error != FENIX_SUCCESS)
    throw Error(static_cast<Fenix_Return_codes>(all.error), "a checkpoint has failed on another rank");
  const Deadline deadline;
  // A checkpoint that a rank has not begun is given up. Here it cannot begin: the program would not know that it had come so far.
  for (const Backoff backoff; control_->passed() == all.passed && is_busy(); backoff.pause()) {
    if (broken_) throw Error(*broken_);
    progress();
    team_->check();
    deadline.check("messages that the program has sent, and never received");
  }
  team_->barrier();
  clear();
}

void Checkpoints::clear() {
  if (is_active()) interposer()->count_messages(nullptr);
  active_.store(false, std::memory_order_release);
  control_.reset();
  team_.reset();
  group_ = {};
  lines_ = 0;
  channels_.clear();
  latest_channel_ = nullptr;
  forbid_quick_messages();
  sent_.clear();
  received_.clear();
  receives_ = 0;
  early_.clear();
  open_early_ = 0;
  late_.clear();
  forced_ = {};
  peers_.clear();
  drop_line();
  told_.clear();
  without_room_.clear();
  kept_waiting_since_ = 0;
  next_line_ = 0;
  pause_ = kPatience;
  broken_.reset();
}

void Checkpoints::request() {
  if (!is_active()) throw Error(FENIX_ERROR_INVALID_LOGIC_CALL, "no checkpoints have begun");
  if (team_->rank() != 0) {
    throw Error(FENIX_ERROR_INVALID_LOGIC_CALL, "only rank 0 asks for checkpoints");
  }
  control_->request();
}

bool Checkpoints::is_due() {
  constexpr std::int64_t kBetweenLooks = 1'000'000;
  const std::int64_t now = coarse_time();
  if (now < next_look_) return false;
  next_look_ = now + kBetweenLooks;
  return true;
}

bool Checkpoints::take_if_requested(bool has_open_receives) {
  progress();
  const bool is_paused = next_line_ > 0 && MPI_Wtime() < next_line_;
  if (interval_ > 0 && team_->rank() == 0 && !is_paused && MPI_Wtime() >= next_request_) {
    next_request_ = MPI_Wtime() + interval_;
    control_->request();
  }
  // Not before all that the latest line depends on is behind this rank: docs/model/README.md, checkpoint_in_replay.
  if (broken_) throw Error(*broken_);
  if (is_busy() || is_replaying() || is_paused || !control_->is_requested()) return false;
  if (has_kept_others_waiting(has_open_receives)) refuse();
  if (has_open_receives) return false;
  take();
  return true;
}

bool Checkpoints::has_kept_others_waiting(bool has_open_receives) {
  const double now = MPI_Wtime();
  if (!has_open_receives || kept_waiting_since_ == 0) kept_waiting_since_ = has_open_receives ? now : 0;
  return kept_waiting_since_ != 0 && now - kept_waiting_since_ >= kPatience;
}

// As long as one rank has not passed the line, no rank is further than that: nothing has to be taken back.
void Checkpoints::refuse() {
  if (!std::exchange(has_warned_of_wait_, true)) {
    log().warn(
        "checkpoint: rank {} has been asked for one, and has had receives under way for {} s at each call that could "
        "take it: the checkpoint is given up on all ranks, and tried again later; more of these are not told",
        team_->rank(), kPatience);
  }
  fault_point("line.refused");
  kept_waiting_since_ = 0;
  forbid_quick_messages();
  control_->refuse();
  progress();
}

}  // namespace fenix_impl
