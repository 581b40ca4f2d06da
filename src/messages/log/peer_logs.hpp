// SPDX-License-Identifier: BSD-3-Clause
// Messages that other ranks have, as they have told this one: those for it in their logs, and those of this rank that they have received.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "base/interval_set.hpp"
#include "messages/log/flow_exchange.hpp"
#include "messages/log/receipts.hpp"

namespace fenix_impl {

/// All functions are local.
class PeerLogs {
 public:
  /// Takes what was told in a repair.
  void note_repair(const std::vector<FlowStatement>& told);
  /// Takes what was told at a checkpoint.
  void note_checkpoint(const std::vector<FlowStatement>& told) { received_at_checkpoint_ = receipts_of(told); }
  /// Notes the slots of ranks that had sent or received something when this process began.
  void note_at_work(const std::vector<int>& slots) { at_work_ = {slots.begin(), slots.end()}; }
  [[nodiscard]] bool is_at_work(int slot) const { return at_work_.count(slot) != 0; }

  /// Returns the messages for this rank that others had logged when the latest failure was repaired, by flow with the number of the log.
  [[nodiscard]] const std::map<Flow, IntervalSet>& logged() const { return logged_; }
  /// Whether the next message of a receive is in the log of its sender.
  [[nodiscard]] bool has(const Flow& flow, std::uint64_t number) const;
  /// Whether that log has this message, or a later one.
  [[nodiscard]] bool may_have(const Flow& flow, std::uint64_t number) const;

  /// Returns the messages of this rank that others had received when the latest failure was repaired.
  [[nodiscard]] const Receipts& received() const { return received_; }
  /// Returns those that they had received at the latest meeting.
  [[nodiscard]] const Receipts& received_at_checkpoint() const { return received_at_checkpoint_; }

 private:
  std::map<Flow, IntervalSet> logged_;
  Receipts received_;
  Receipts received_at_checkpoint_;
  std::set<int> at_work_;
};

}  // namespace fenix_impl
