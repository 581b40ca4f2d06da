// SPDX-License-Identifier: BSD-3-Clause
#include "messages/log/flow_exchange.hpp"

#include <cstddef>
#include <map>

#include "messages/log/log_entries.hpp"

namespace fenix_impl {

void add_received(const FlowNumbers& flows, int own_slot, std::vector<FlowStatement>& to) {
  for (const auto& [flow, number] : flows.all_received()) {
    to.push_back({flow, own_slot, FlowStatement::received, number, 0});
  }
}

void add_open(const FlowNumbers& flows, int own_slot, std::vector<FlowStatement>& to) {
  flows.for_each_open([&](const Flow& flow, std::uint64_t number) {
    to.push_back({flow, own_slot, FlowStatement::open, number, 0});
  });
}

// Only to whom it concerns: all flows of all ranks are too many for each.
std::vector<FlowStatement> exchange(Team& team, int own_slot, const std::vector<FlowStatement>& mine) {
  const std::vector<int> slots = team.gather(own_slot);
  std::map<int, int> ranks;
  for (std::size_t rank = 0; rank < slots.size(); ++rank) ranks[slots[rank]] = static_cast<int>(rank);
  std::map<int, std::vector<FlowStatement>> words;
  for (const FlowStatement& each : mine) {
    if (const auto found = ranks.find(each.flow.peer); found != ranks.end()) words[found->second].push_back(each);
  }
  std::vector<FlowStatement> told;
  for (const auto& [from, of_rank] : team.tell(words)) told.insert(told.end(), of_rank.begin(), of_rank.end());
  return told;
}

Receipts receipts_of(const std::vector<FlowStatement>& told) {
  Receipts receipts;
  for (const FlowStatement& each : told) {
    const Flow flow = logged_flow({each.flow.comm_id, each.slot, each.flow.tag});
    if (each.kind == FlowStatement::received) receipts.add(flow, each.number);
    if (each.kind == FlowStatement::open) receipts.add_open(flow, each.number);
  }
  return receipts;
}

}  // namespace fenix_impl
