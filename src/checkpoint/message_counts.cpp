// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/message_counts.hpp"

#include <algorithm>
#include <cassert>

#include "interposition/determinant_kind.hpp"

namespace fenix_impl {

void MessageCounts::go_on_from(const LineRecord& line) {
  for (const FlowCount& each : line.sent) sent_[each.flow] = each.count;
  for (const FlowCount& each : line.received) received_[each.flow] = each.count;
  for (const FlowCount& each : line.sent) peers_[each.flow] = each.peer;
  for (const FlowCount& each : line.received) peers_[each.flow] = each.peer;
  receives_ = line.receives;
}

void MessageCounts::clear() {
  sent_.clear();
  received_.clear();
  receives_ = 0;
  peers_.clear();
}

std::uint64_t* MessageCounts::counter_in(FlowCounts& counts, const MessageFlow& flow) {
  const auto found = counts.find(flow);
  return found != counts.end() ? &found->second : nullptr;
}

void MessageCounts::write_to(LineRecord& line) const {
  line.receives = receives_;
  line.sent = with_peers(sent_, true);
  line.received = with_peers(received_, false);
}

std::vector<FlowCount> MessageCounts::with_peers(const FlowCounts& counts, bool are_sent) const {
  std::vector<FlowCount> all;
  for (const auto& [flow, count] : counts) {
    if (count > 0) all.push_back({flow, peer_in(flow, are_sent), 0, count});
  }
  return all;
}

int MessageCounts::peer_in(const MessageFlow& flow, bool is_sent) const {
  if (flow.tag == kTagOfCounter) return MPI_PROC_NULL;
  const std::vector<int>* const ranks = channels_.ranks_of(flow.comm_id);
  // This rank has not used the communicator since the restart.
  if (ranks == nullptr) return peers_.at(flow);
  return ranks->at(static_cast<std::size_t>(is_sent ? flow.destination : flow.source));
}

// All messages from before the line have come: both ends of a flow count from the line on, and forget the flow if there were none since.
void MessageCounts::count_from(const LineRecord& line, const FlowCounts& told) {
  const auto take_off = [](FlowCounts& from, const MessageFlow& flow, std::uint64_t count) {
    const auto found = from.find(flow);
    // Claims 1.3 and 2.3 of Bronevetsky et al.: nothing from before the line comes to a rank that has stopped logging. Collective operations are
    // messages here.
    assert(found != from.end() && found->second >= count);
    if (found == from.end()) return;
    found->second -= std::min(found->second, count);
    if (found->second == 0) from.erase(found);
  };
  for (const FlowCount& each : line.sent) take_off(sent_, each.flow, each.count);
  for (const auto& [flow, count] : told) take_off(received_, flow, count);
}

}  // namespace fenix_impl
