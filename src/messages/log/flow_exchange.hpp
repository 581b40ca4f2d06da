// SPDX-License-Identifier: BSD-3-Clause
// Exchange of the numbers of messages between ranks, after a repair and at a checkpoint.
#pragma once

#include <cstdint>
#include <vector>

#include "messages/log/flow_numbers.hpp"
#include "messages/log/receipts.hpp"
#include "rma/team.hpp"

namespace fenix_impl {

/// Words of a rank about the messages of a flow.
struct FlowStatement {
  Flow flow;
  std::int32_t slot = 0;  ///< of the rank that has logged the messages, or received them
  enum Kind : std::int32_t { logged, received, open } kind = logged;
  std::uint64_t number = 0;
  std::uint64_t end = 0;  ///< of those that are logged: one more than the last one
};

/// Adds the receives that have begun.
void add_received(const FlowNumbers& flows, int own_slot, std::vector<FlowStatement>& to);
/// Adds those that have no message yet.
void add_open(const FlowNumbers& flows, int own_slot, std::vector<FlowStatement>& to);
/// Tells each rank what is about its messages. Returns what others say of those of this one. Collective. Throws as Team does.
[[nodiscard]] std::vector<FlowStatement> exchange(Team& team, int own_slot, const std::vector<FlowStatement>& mine);
/// Returns which messages of this rank the others have received.
[[nodiscard]] Receipts receipts_of(const std::vector<FlowStatement>& told);

}  // namespace fenix_impl
