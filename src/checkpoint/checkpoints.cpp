// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/checkpoints.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/backoff.hpp"
#include "base/deadline.hpp"
#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/log.hpp"
#include "interposition/interposer.hpp"

namespace fenix_impl {

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

bool Checkpoints::is_usable(bool is_there) {
  const TeamFactory::NewTeam made = teams_.make(process_.comms().resilient());
  bool is_mine = is_there;
  try {
    if (is_there) {
      const LineRecord record = LineRecord::decode(memory_);
      is_mine = record.is_whole && record.ranks == made.team->size();
    }
  } catch (const Error& error) {
    log().warn("{}", error.what());
    is_mine = false;
  }
  return made.team->all_of(is_mine);
}

void Checkpoints::begin(bool goes_on, GroupOf group, int log_member) {
  clear();
  team_ = teams_.make(process_.comms().resilient()).team;
  group_ = std::move(group);
  log_member_ = log_member;
  agree_on_sizes();
  LineRecord record;
  if (goes_on) record = LineRecord::decode(memory_);
  counts_.go_on_from(record);
  replay_.begin(record, *team_);
  control_ = std::make_unique<LineControl>(team_->comm(), 0);
  schedule_.begin();
  active_.store(true, std::memory_order_release);
  if (!goes_on) return;
  log().info("checkpoint: goes on, {} messages come from the log, {} are not sent again", replay_.logged_messages(),
             replay_.early_messages());
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
  close_fast_path();
  counts_.clear();
  replay_.clear();
  line_.drop();
  schedule_.clear();
  broken_.reset();
}

void Checkpoints::request() {
  if (!is_active()) throw Error(FENIX_ERROR_INVALID_LOGIC_CALL, "no checkpoints have begun");
  if (team_->rank() != 0) {
    throw Error(FENIX_ERROR_INVALID_LOGIC_CALL, "only rank 0 asks for checkpoints");
  }
  control_->request();
}

bool Checkpoints::take_if_requested(bool has_open_receives) {
  progress();
  const bool is_paused = schedule_.is_paused();
  if (team_->rank() == 0 && !is_paused && schedule_.is_request_due()) control_->request();
  // Not before all that the latest line depends on is behind this rank: docs/model/README.md, checkpoint_in_replay.
  if (broken_) throw Error(*broken_);
  if (is_busy() || !replay_.is_over() || is_paused || !control_->is_requested()) return false;
  if (schedule_.has_kept_others_waiting(has_open_receives)) refuse();
  if (has_open_receives) return false;
  take();
  return true;
}

// As long as one rank has not passed the line, no rank is further than that: nothing has to be taken back.
void Checkpoints::refuse() {
  schedule_.note_refusal(team_->rank());
  fault_point("line.refused");
  close_fast_path();
  control_->refuse();
  progress();
}

void Checkpoints::take() {
  Group& group = group_();
  fault_point("line.begin");
  std::vector<Member*> members;
  for (const auto& member : group.members()) {
    if (member->id() != log_member_) members.push_back(member.get());
  }
  group.stores().store(members, Selection::all());
  fault_point("line.stored");
  line_.begin(team_->size(), counts_);
  std::map<int, std::vector<FlowCount>> by_rank;
  for (const FlowCount& each : line_.record().sent) by_rank[each.peer].push_back(each);
  control_->pass(by_rank);
  fault_point("line.passed");
  progress();
}

// Errors that are no failures are not those of the program's call.
void Checkpoints::progress() {
  if (!is_busy() || broken_) return;
  try {
    go_on();
  } catch (const MpiError&) {
    throw;
  } catch (const Error& error) {
    log().warn("checkpoint: {}", error.what());
    broken_ = error;
    line_.drop();
  }
}

void Checkpoints::go_on() {
  using Phase = LineControl::Phase;
  const Phase before = control_->phase();
  control_->step();
  if (control_->phase() == Phase::refused) return give_up_line();
  if (before < Phase::logging && are_counts_known()) line_.learn_counts(control_->told());
  if (control_->phase() == Phase::logging) stop_if_complete();
  if (control_->phase() == Phase::stopped) seal();
}

void Checkpoints::stop_if_complete() {
  if (!line_.is_complete()) return;
  fault_point("line.ready");
  control_->stop();
}

void Checkpoints::seal() {
  Group& group = group_();
  Member* const member = group.find(log_member_);
  if (member == nullptr) throw Error(FENIX_ERROR_INVALID_MEMBERID, "the member for the log of checkpoints was deleted");
  const auto bytes = line_.encode(memory_.size());
  fault_point("line.seal");
  std::copy(bytes.begin(), bytes.end(), memory_.begin());
  group.stores().store(std::span<Member* const>(&member, 1), Selection::some(IntervalSet(0, bytes.size())));
  fault_point("line.logged");
  const int time_stamp = group.commit();
  log().debug("checkpoint {}: {} late messages, {} words of events", time_stamp, line_.record().late.size(),
              line_.record().trace.words().size());
  counts_.count_from(line_.record(), line_.told());
  line_.drop();
  control_->end();
  ++lines_;
  schedule_.note_complete();
  fault_point("line.end");
}

// The counts go on from the latest complete line. Members that are stored and not committed are stored anew with the next one.
void Checkpoints::give_up_line() {
  log().info("checkpoint: one is given up, as a rank cannot take it");
  fault_point("line.given_up");
  line_.drop();
  schedule_.note_given_up(/*pauses=*/team_->rank() == 0);
  control_->end();
}

// ------------------------------------------------------------------------------------------------------------------- messages

FastSend Checkpoints::allow_send(const Partner& to) {
  if (!may_only_count() || replay_.has_early()) return {};
  FastSend fast;
  fast.sent = counts_.counter_of_sent(channels_.flow_to(to));
  fast.is_allowed = fast.sent != nullptr;
  return fast;
}

FastReceive Checkpoints::allow_receive(const Partner& from) {
  if (!may_only_count() || replay_.has_logged() || replay_.has_forced()) return {};
  std::uint64_t* const begun = counts_.counter_of_received(channels_.flow_from(from));
  return begun != nullptr ? FastReceive{true, begun, nullptr, counts_.counter_of_matches()} : FastReceive();
}

bool Checkpoints::count_send(const Partner& to) {
  progress();
  const MessageFlow flow = channels_.flow_to(to);
  const std::uint64_t number = counts_.count_sent(flow);
  if (Trace* const trace = line_.trace()) {
    trace->note_sent(flow);
    keep_within_room();
  }
  return !replay_.was_received(flow, number);
}

std::uint64_t Checkpoints::begin_receive(const Partner& from) {
  progress();
  return counts_.count_received(channels_.flow_from(from));
}

void Checkpoints::end_receive(const Partner& from, std::uint64_t number,
                              const std::function<std::vector<std::byte>()>& pack) {
  if (from.tag == kTagOfCounter) return;
  const MessageFlow flow = channels_.flow_from(from);
  if (!line_.is_under_way()) return;
  if (Trace* const trace = line_.trace()) trace->note_delivered(flow, number);
  const bool is_known = are_counts_known();
  const bool may_be_late = line_.may_be_late(flow, number, is_known);
  if (may_be_late) line_.add(flow, number, is_known, pack);
  keep_within_room();
  if (!may_be_late) return;
  if (is_known) line_.note_late();
  fault_point("line.late");
}

void Checkpoints::take_back(const Partner& partner, bool is_sent) {
  if (is_sent) {
    counts_.take_back_sent(channels_.flow_to(partner));
  } else {
    counts_.take_back_received(channels_.flow_from(partner));
  }
}

std::optional<std::vector<int>> Checkpoints::next(DeterminantKind call, bool may_be_negative) {
  progress();
  return replay_.next(call, may_be_negative);
}

void Checkpoints::note_found(const Partner& from, std::uint64_t number) {
  if (line_.trace() == nullptr) return;
  const MessageFlow flow = channels_.flow_from(from);
  line_.trace()->note_delivered(flow, number != 0 ? number : count_of(counts_.received(), flow) + 1);
}

void Checkpoints::note(DeterminantKind call, std::span<const int> outcome) {
  if (line_.trace() == nullptr) return;
  line_.trace()->note_outcome(call, outcome);
  keep_within_room();
}

void Checkpoints::note_match(std::uint64_t receive, int source, int tag) {
  if (line_.trace() == nullptr) return;
  line_.trace()->note_match(receive, source, tag);
  keep_within_room();
}

}  // namespace fenix_impl
