// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/line/checkpoints.hpp"

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <iterator>
#include <string>
#include <utility>

#include "base/backoff.hpp"
#include "base/deadline.hpp"
#include "base/environment.hpp"
#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/log.hpp"
#include "core/common/meeting.hpp"
#include "recovery/interposer.hpp"

namespace fenix_impl {
namespace {

// Nanoseconds. Reading it costs a few of them; it goes on every few milliseconds.
std::int64_t coarse_time() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return std::int64_t{1'000'000'000} * now.tv_sec + now.tv_nsec;
}

void say_that_it_is_no_use(const LineRecord& line) {
  log().warn("checkpoint: the log has no room for {} messages and {} events: a restart cannot begin with this one",
             line.late.size(), line.trace.words().size());
}

/// A number that is no message: the library counts operations with it.
bool is_message(int tag) { return tag != kTagOfCounter; }

}  // namespace

// ----------------------------------------------------------------------------------------------------------------- begin, end

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

bool Checkpoints::is_usable(bool is_there) {
  const TeamFactory::NewTeam made = teams_.make(process_.resilient());
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
  group.store(members, Selection::some({}));
}

// Early messages: their receivers had them before their checkpoints, and this rank sends them after its own one.
void Checkpoints::exchange_counts(const LineRecord& record) {
  const int self = team_->rank();
  const auto of_this_rank = [&](const std::vector<FlowCount>& mine) {
    std::vector<FlowCount> counts;
    for (const auto& of_rank : team_->gather_lists(std::span<const FlowCount>(mine))) {
      std::copy_if(of_rank.begin(), of_rank.end(), std::back_inserter(counts),
                   [self](const FlowCount& each) { return each.peer == self; });
    }
    return counts;
  };
  for (const FlowCount& each : of_this_rank(record.received)) {
    early_[each.flow] = each.count;
    open_early_ += each.count - std::min(each.count, count_of(sent_, each.flow));
  }
  FlowCounts logged;
  for (const LateMessage& each : record.late) ++logged[each.flow];
  const auto sent = of_this_rank(record.sent);
  const bool is_complete = std::all_of(sent.begin(), sent.end(), [&](const FlowCount& each) {
    const std::uint64_t received = count_of(received_, each.flow);
    return each.count - std::min(each.count, received) == count_of(logged, each.flow);
  });
  if (team_->all_of(is_complete)) return;
  throw Error(FENIX_ERROR_NODATA_FOUND, is_complete ? "the log of the checkpoint lacks messages on another rank"
                                                    : "the log of the checkpoint lacks messages");
}

// To the greatest consistent cut: an outcome that depends on a message is forced only if the rank that sends it will send the same. It
// depends on nothing that its sender has done beyond its own cut.
void Checkpoints::force_outcomes(const LineRecord& record) {
  std::size_t end = record.trace.words().size();
  for (bool has_changed = true; has_changed;) {
    FlowCounts sent = sent_;
    record.trace.add_sent(end, sent);
    std::vector<FlowCount> mine;
    for (const auto& [flow, count] : sent) mine.push_back({flow, 0, 0, count});
    FlowCounts by_all;
    for (const auto& of_rank : team_->gather_lists(std::span<const FlowCount>(mine))) {
      for (const FlowCount& each : of_rank) by_all[each.flow] = each.count;
    }
    const std::size_t before = std::exchange(end, record.trace.first_without_sender(end, by_all));
    has_changed = !team_->all_of(before == end);
  }
  forced_ = ForcedOutcomes(record.trace, end);
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
  broken_.reset();
}

// ---------------------------------------------------------------------------------------------------------------- checkpoints

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
  if (interval_ > 0 && team_->rank() == 0 && MPI_Wtime() >= next_request_) {
    next_request_ = MPI_Wtime() + interval_;
    control_->request();
  }
  // Not before all that the latest line depends on is behind this rank: docs/model/README.md, checkpoint_in_replay.
  if (broken_) throw Error(*broken_);
  if (is_busy() || is_replaying() || !control_->is_requested()) return false;
  warn_if_others_wait(has_open_receives);
  if (has_open_receives) return false;
  take();
  return true;
}

// The others log all messages meanwhile, until their logs are full.
void Checkpoints::warn_if_others_wait(bool has_open_receives) {
  constexpr double kLong = 10;
  const double now = MPI_Wtime();
  if (!has_open_receives || kept_waiting_since_ == 0) kept_waiting_since_ = has_open_receives ? now : 0;
  if (kept_waiting_since_ == 0 || now - kept_waiting_since_ < kLong || std::exchange(has_warned_of_wait_, true)) return;
  log().warn(
      "checkpoint: rank {} has been asked for one, and has had receives under way for {} s at each call that could "
      "take "
      "it: the others wait, and log their messages",
      team_->rank(), kLong);
}

std::vector<FlowCount> Checkpoints::with_peers(const FlowCounts& counts, bool are_sent) const {
  std::vector<FlowCount> all;
  for (const auto& [flow, count] : counts) {
    if (count > 0) all.push_back({flow, peer_in(flow, are_sent), 0, count});
  }
  return all;
}

int Checkpoints::peer_in(const MessageFlow& flow, bool is_sent) const {
  if (!is_message(flow.tag)) return MPI_PROC_NULL;
  const auto found = channels_.find(flow.channel);
  // This rank has not used the communicator since the restart.
  if (found == channels_.end()) return peers_.at(flow);
  return found->second.ranks.at(static_cast<std::size_t>(is_sent ? flow.destination : flow.source));
}

void Checkpoints::take() {
  Group& group = group_();
  fault_point("line.begin");
  std::vector<Member*> members;
  for (const auto& member : group.members()) {
    if (member->id() != log_member_) members.push_back(member.get());
  }
  group.store(members, Selection::all());
  fault_point("line.stored");
  line_ = std::make_unique<LineRecord>();
  forbid_quick_messages();
  notes_ends_ = true;
  line_->ranks = team_->size();
  line_->receives = receives_;
  line_->sent = with_peers(sent_, true);
  line_->received = with_peers(received_, false);
  told_.clear();
  without_room_.clear();
  open_late_ = 0;
  log_bytes_ = 0;
  std::map<int, std::vector<FlowCount>> by_rank;
  for (const FlowCount& each : line_->sent) by_rank[each.peer].push_back(each);
  control_->pass(by_rank);
  fault_point("line.passed");
  progress();
}

void Checkpoints::drop_line() {
  line_.reset();
#ifdef NDEBUG
  notes_ends_ = false;
#endif
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
    drop_line();
  }
}

void Checkpoints::go_on() {
  using Phase = LineControl::Phase;
  const Phase before = control_->phase();
  control_->step();
  if (before < Phase::logging && control_->phase() >= Phase::logging) learn_counts();
  if (control_->phase() == Phase::logging) stop_if_complete();
  if (control_->phase() == Phase::stopped) seal();
}

// Late messages alone stay in the log.
void Checkpoints::learn_counts() {
  FlowCounts at_line;
  for (const FlowCount& each : line_->received) at_line[each.flow] = each.count;
  for (const FlowCount& each : control_->told()) {
    told_[each.flow] = each.count;
    open_late_ += each.count - std::min(each.count, count_of(at_line, each.flow));
  }
  std::erase_if(line_->late, [&](const LateMessage& each) { return each.number > count_of(told_, each.flow); });
  open_late_ -= line_->late.size();
  for (const auto& [flow, numbers] : without_room_) open_late_ -= numbers.within(0, count_of(told_, flow) + 1).count();
  without_room_.clear();
  fault_point("line.known");
}

void Checkpoints::stop_if_complete() {
  if (open_late_ > 0) return;
  fault_point("line.ready");
  control_->stop();
}

void Checkpoints::seal() {
  Group& group = group_();
  Member* const member = group.find(log_member_);
  if (member == nullptr) throw Error(FENIX_ERROR_INVALID_MEMBERID, "the member for the log of checkpoints was deleted");
  auto bytes = line_->is_whole ? line_->encode(memory_.size()) : std::nullopt;
  if (!bytes) {
    if (line_->is_whole) say_that_it_is_no_use(*line_);
    LineRecord of_no_use;
    of_no_use.ranks = line_->ranks;
    of_no_use.is_whole = false;
    bytes = of_no_use.encode(memory_.size());
  }
  fault_point("line.seal");
  std::copy(bytes->begin(), bytes->end(), memory_.begin());
  group.store(std::span<Member* const>(&member, 1), Selection::some(IntervalSet(0, bytes->size())));
  fault_point("line.logged");
  const int time_stamp = group.commit();
  log().debug("checkpoint {}: {} late messages, {} words of events", time_stamp, line_->late.size(),
              line_->trace.words().size());
  count_from_line();
  told_.clear();
  drop_line();
  control_->end();
  ++lines_;
  fault_point("line.end");
}

// All messages from before the line have come: both ends of a flow count from the line on, and forget the flow if there were none since.
void Checkpoints::count_from_line() {
  const auto take_off = [](FlowCounts& from, const MessageFlow& flow, std::uint64_t count) {
    const auto found = from.find(flow);
    // Claims 1.3 and 2.3 of seed 002: nothing from before the line comes to a rank that has stopped logging. Collective operations are
    // messages here.
    assert(found != from.end() && found->second >= count);
    if (found == from.end()) return;
    found->second -= std::min(found->second, count);
    if (found->second == 0) from.erase(found);
  };
  for (const FlowCount& each : line_->sent) take_off(sent_, each.flow, each.count);
  for (const auto& [flow, count] : told_) take_off(received_, flow, count);
}

// Without room, the checkpoint is of no use. Its late messages are still waited for: others may have room, and epochs are those of all.
void Checkpoints::keep_within_room() {
  const Trace& trace = line_->trace;
  const std::size_t events = trace.words().size() * sizeof(std::int64_t) + trace.flows().size() * sizeof(MessageFlow);
  if (!line_->is_whole || std::max(log_bytes_, events) <= memory_.size()) return;
  say_that_it_is_no_use(*line_);
  line_->is_whole = false;
  line_->trace.clear();
  for (const LateMessage& each : std::exchange(line_->late, {})) note_without_room(each.flow, each.number);
}

void Checkpoints::note_without_room(const MessageFlow& flow, std::uint64_t number) {
  if (control_->phase() >= LineControl::Phase::logging) return;
  IntervalSet& numbers = without_room_[flow];
  numbers = numbers | IntervalSet(number, number + 1);
}

// ------------------------------------------------------------------------------------------------------------------- messages

Checkpoints::Channel& Checkpoints::channel_of(const Partner& partner) {
  if (latest_channel_ != nullptr && partner.channel == latest_number_) return *latest_channel_;
  Channel& channel = channels_[partner.channel];
  if (channel.ranks.empty()) {
    const MPI_Comm now = present(partner.name);
    channel.ranks = process_.ranks_of(now);
    MPI_Comm_rank(now, &channel.own);
  }
  latest_number_ = partner.channel;
  latest_channel_ = &channel;
  return channel;
}

QuickSend Checkpoints::allow_send(const Partner& to) {
  if (!may_only_count() || open_early_ > 0) return {};
  const auto found = sent_.find(flow_to(to));
  return found != sent_.end() ? QuickSend{true, &found->second, nullptr} : QuickSend();
}

QuickReceive Checkpoints::allow_receive(const Partner& from) {
  if (!may_only_count() || has_logged() || !forced_.empty()) return {};
  const auto found = received_.find(flow_from(from));
  return found != received_.end() ? QuickReceive{true, &found->second, nullptr, &receives_} : QuickReceive();
}

bool Checkpoints::count_send(const Partner& to) {
  progress();
  const MessageFlow flow = flow_to(to);
  const std::uint64_t number = ++sent_[flow];
  if (trace() != nullptr) {
    trace()->note_sent(flow);
    keep_within_room();
  }
  if (open_early_ == 0 || number > count_of(early_, flow)) return true;
  --open_early_;
  fault_point("line.skipped");
  return false;
}

std::uint64_t Checkpoints::begin_receive(const Partner& from) {
  progress();
  return ++received_[flow_from(from)];
}

void Checkpoints::end_receive(const Partner& from, std::uint64_t number,
                              const std::function<std::vector<std::byte>()>& pack) {
  if (!is_message(from.tag)) return;
  const MessageFlow flow = flow_from(from);
  if (!line_) return;
  if (trace() != nullptr) trace()->note_delivered(flow, number);
  const bool is_known = control_->phase() >= LineControl::Phase::logging;
  const bool may_be_late = !is_known || number <= count_of(told_, flow);
  if (may_be_late && line_->is_whole) {
    log_bytes_ += line_->late.emplace_back(LateMessage{flow, number, pack()}).bytes.size();
  } else if (may_be_late) {
    note_without_room(flow, number);
  }
  keep_within_room();
  if (!may_be_late) return;
  if (is_known) --open_late_;
  fault_point("line.late");
}

void Checkpoints::take_back(const Partner& partner, bool is_sent) {
  if (is_sent) {
    --sent_[flow_to(partner)];
  } else {
    --received_[flow_from(partner)];
  }
}

const LateMessage* Checkpoints::logged(const Partner& from, std::uint64_t number) {
  if (late_.empty()) return nullptr;
  const MessageFlow flow = flow_from(from);
  const auto found = std::find_if(late_.begin(), late_.end(),
                                  [&](const LateMessage& each) { return each.number == number && each.flow == flow; });
  if (found == late_.end()) return nullptr;
  taken_ = std::move(*found);
  late_.erase(found);
  return &taken_;
}

const LateMessage* Checkpoints::find(const Partner& from) {
  if (late_.empty()) return nullptr;
  const int own = channel_of(from).own;
  const auto found = std::find_if(late_.begin(), late_.end(), [&](const LateMessage& each) {
    const MessageFlow& flow = each.flow;
    const bool suits = flow.channel == from.channel && flow.destination == own &&
                       (from.rank == MPI_ANY_SOURCE || flow.source == from.rank) &&
                       (from.tag == MPI_ANY_TAG ? flow.tag < kFirstInternalTag : flow.tag == from.tag);
    return suits && each.number == count_of(received_, flow) + 1;
  });
  return found != late_.end() ? &*found : nullptr;
}

// ------------------------------------------------------------------------------------------------------------------- outcomes

std::optional<std::vector<int>> Checkpoints::next(Decision call, bool may_be_negative) {
  progress();
  return forced_.next(call, may_be_negative);
}

void Checkpoints::note_found(const Partner& from, std::uint64_t number) {
  if (trace() == nullptr) return;
  const MessageFlow flow = flow_from(from);
  trace()->note_delivered(flow, number != 0 ? number : count_of(received_, flow) + 1);
}

void Checkpoints::note(Decision call, std::span<const int> outcome) {
  if (trace() == nullptr) return;
  trace()->note_outcome(call, outcome);
  keep_within_room();
}

void Checkpoints::note_match(std::uint64_t receive, int source, int tag) {
  if (trace() == nullptr) return;
  trace()->note_match(receive, source, tag);
  keep_within_room();
}

}  // namespace fenix_impl
