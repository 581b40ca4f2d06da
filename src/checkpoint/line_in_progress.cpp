// SPDX-License-Identifier: BSD-3-Clause
// A line of checkpoints, from its begin until it is sealed.
#include "checkpoint/checkpoints.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "base/deadline.hpp"
#include "base/environment.hpp"
#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/log.hpp"
#include "core/common/meeting.hpp"

namespace fenix_impl {
namespace {

void say_that_it_is_no_use(const LineRecord& line) {
  log().warn("checkpoint: the log has no room for {} messages and {} events: a restart cannot begin with this one",
             line.late.size(), line.trace.words().size());
}

}  // namespace

// The counts go on from the latest complete line. Members that are stored and not committed are stored anew with the next one.
void Checkpoints::give_up_line() {
  constexpr double kLongestPause = 600;
  log().info("checkpoint: one is given up, as a rank cannot take it");
  fault_point("line.given_up");
  told_.clear();
  without_room_.clear();
  drop_line();
  if (team_->rank() == 0) next_line_ = MPI_Wtime() + pause_;
  pause_ = std::min(2 * pause_, kLongestPause);
  control_->end();
}

std::vector<FlowCount> Checkpoints::with_peers(const FlowCounts& counts, bool are_sent) const {
  std::vector<FlowCount> all;
  for (const auto& [flow, count] : counts) {
    if (count > 0) all.push_back({flow, peer_in(flow, are_sent), 0, count});
  }
  return all;
}

int Checkpoints::peer_in(const MessageFlow& flow, bool is_sent) const {
  if (flow.tag == kTagOfCounter) return MPI_PROC_NULL;
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
  group.stores().store(members, Selection::all());
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
  if (control_->phase() == Phase::refused) return give_up_line();
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
  group.stores().store(std::span<Member* const>(&member, 1), Selection::some(IntervalSet(0, bytes->size())));
  fault_point("line.logged");
  const int time_stamp = group.commit();
  log().debug("checkpoint {}: {} late messages, {} words of events", time_stamp, line_->late.size(),
              line_->trace.words().size());
  count_from_line();
  told_.clear();
  drop_line();
  control_->end();
  ++lines_;
  pause_ = kPatience;
  fault_point("line.end");
}

// All messages from before the line have come: both ends of a flow count from the line on, and forget the flow if there were none since.
void Checkpoints::count_from_line() {
  const auto take_off = [](FlowCounts& from, const MessageFlow& flow, std::uint64_t count) {
    const auto found = from.find(flow);
    // Claims 1.3 and 2.3 of Bronevetsky et al.: nothing from before the line comes to a rank that has stopped logging. Collective operations are
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

}  // namespace fenix_impl
