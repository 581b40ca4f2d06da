// SPDX-License-Identifier: BSD-3-Clause
#include "messages/log/peer_logs.hpp"

#include "messages/log/log_entries.hpp"

namespace fenix_impl {

void PeerLogs::note_repair(const std::vector<FlowStatement>& told) {
  received_ = receipts_of(told);
  // A rank that has died may need what its predecessor had received.
  received_at_checkpoint_ = {};
  logged_.clear();
  for (const FlowStatement& each : told) {
    if (each.kind != FlowStatement::logged) continue;
    logged_[{each.flow.comm_id, each.slot, each.flow.tag}].append({each.number, each.end});
  }
}

bool PeerLogs::has(const Flow& flow, std::uint64_t number) const {
  if (logged_.empty()) return false;
  const auto logged = logged_.find(logged_flow(flow));
  return logged != logged_.end() && has_logged(logged->second, number);
}

bool PeerLogs::may_have(const Flow& flow, std::uint64_t number) const {
  const auto logged = logged_.find(logged_flow(flow));
  return logged != logged_.end() && is_before_end(logged->second, number);
}

}  // namespace fenix_impl
