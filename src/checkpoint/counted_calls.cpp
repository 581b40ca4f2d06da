// SPDX-License-Identifier: BSD-3-Clause
// Messages and outcomes of the program: they are counted, and after a failure they come from the line.
#include "checkpoint/checkpoints.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "base/environment.hpp"
#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/log.hpp"
#include "core/common/meeting.hpp"
#include "interposition/interposer.hpp"

namespace fenix_impl {

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

// Early messages: their receivers had them before their checkpoints, and this rank sends them after its own one.
void Checkpoints::exchange_counts(const LineRecord& record) {
  const auto of_this_rank = [&](const std::vector<FlowCount>& mine) {
    std::map<int, std::vector<FlowCount>> words;
    for (const FlowCount& each : mine) {
      if (each.peer != MPI_PROC_NULL) words[each.peer].push_back(each);
    }
    std::vector<FlowCount> counts;
    for (const auto& [from, of_rank] : team_->tell(words)) counts.insert(counts.end(), of_rank.begin(), of_rank.end());
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
  QuickSend quick;
  quick.is_allowed = found != sent_.end();
  if (quick.is_allowed) quick.sent = &found->second;
  return quick;
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
  if (from.tag == kTagOfCounter) return;
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
