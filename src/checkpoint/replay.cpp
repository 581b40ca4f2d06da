// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/replay.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "core/common/meeting.hpp"

namespace fenix_impl {

void CheckpointReplay::begin(LineRecord& line, Team& team) {
  together(team, [&] {
    exchange_counts(line, team);
    force_outcomes(line, team);
  });
  late_ = std::move(line.late);
}

void CheckpointReplay::clear() {
  early_.clear();
  open_early_ = 0;
  late_.clear();
  forced_ = {};
}

// Early messages: their receivers had them before their checkpoints, and this rank sends them after its own one.
void CheckpointReplay::exchange_counts(const LineRecord& line, Team& team) {
  const auto of_this_rank = [&](const std::vector<FlowCount>& mine) {
    std::map<int, std::vector<FlowCount>> words;
    for (const FlowCount& each : mine) {
      if (each.peer != MPI_PROC_NULL) words[each.peer].push_back(each);
    }
    std::vector<FlowCount> counts;
    for (const auto& [from, of_rank] : team.tell(words)) counts.insert(counts.end(), of_rank.begin(), of_rank.end());
    return counts;
  };
  for (const FlowCount& each : of_this_rank(line.received)) {
    early_[each.flow] = each.count;
    open_early_ += each.count - std::min(each.count, count_of(counts_.sent(), each.flow));
  }
  FlowCounts logged;
  for (const LateMessage& each : line.late) ++logged[each.flow];
  const auto sent = of_this_rank(line.sent);
  const bool is_complete = std::all_of(sent.begin(), sent.end(), [&](const FlowCount& each) {
    const std::uint64_t received = count_of(counts_.received(), each.flow);
    return each.count - std::min(each.count, received) == count_of(logged, each.flow);
  });
  if (team.all_of(is_complete)) return;
  throw Error(FENIX_ERROR_NODATA_FOUND, is_complete ? "the log of the checkpoint lacks messages on another rank"
                                                    : "the log of the checkpoint lacks messages");
}

// To the greatest consistent cut: an outcome that depends on a message is forced only if the rank that sends it will send the same. It
// depends on nothing that its sender has done beyond its own cut.
void CheckpointReplay::force_outcomes(const LineRecord& line, Team& team) {
  std::size_t end = line.trace.words().size();
  for (bool has_changed = true; has_changed;) {
    FlowCounts sent = counts_.sent();
    line.trace.add_sent(end, sent);
    std::vector<FlowCount> mine;
    for (const auto& [flow, count] : sent) mine.push_back({flow, 0, 0, count});
    FlowCounts by_all;
    for (const auto& of_rank : team.gather_lists(std::span<const FlowCount>(mine))) {
      for (const FlowCount& each : of_rank) by_all[each.flow] = each.count;
    }
    const std::size_t before = std::exchange(end, line.trace.first_without_sender(end, by_all));
    has_changed = !team.all_of(before == end);
  }
  forced_ = ForcedOutcomes(line.trace, end);
}

bool CheckpointReplay::was_received(const MessageFlow& flow, std::uint64_t number) {
  if (open_early_ == 0 || number > count_of(early_, flow)) return false;
  --open_early_;
  fault_point("line.skipped");
  return true;
}

const LateMessage* CheckpointReplay::logged(const Partner& from, std::uint64_t number) {
  if (late_.empty()) return nullptr;
  const MessageFlow flow = channels_.flow_from(from);
  const auto found = std::find_if(late_.begin(), late_.end(),
                                  [&](const LateMessage& each) { return each.number == number && each.flow == flow; });
  if (found == late_.end()) return nullptr;
  taken_ = std::move(*found);
  late_.erase(found);
  return &taken_;
}

const LateMessage* CheckpointReplay::find(const Partner& from) {
  if (late_.empty()) return nullptr;
  const int own = channels_.own_rank(from);
  const auto found = std::find_if(late_.begin(), late_.end(), [&](const LateMessage& each) {
    const MessageFlow& flow = each.flow;
    const bool suits = flow.comm_id == from.comm_id && flow.destination == own &&
                       (from.rank == MPI_ANY_SOURCE || flow.source == from.rank) &&
                       (from.tag == MPI_ANY_TAG ? flow.tag < kFirstInternalTag : flow.tag == from.tag);
    return suits && each.number == count_of(counts_.received(), flow) + 1;
  });
  return found != late_.end() ? &*found : nullptr;
}

}  // namespace fenix_impl
