// SPDX-License-Identifier: BSD-3-Clause
// Messages from one rank of a communicator to another one with one tag: MPI keeps their order, so that a number tells which one is meant.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

namespace fenix_impl {

/// Sent to other ranks.
struct MessageFlow {
  std::uint64_t comm_id = 0;     ///< number of the communicator, the same on all its ranks
  std::int32_t source = 0;       ///< rank there
  std::int32_t destination = 0;  ///< likewise
  std::int32_t tag = 0;
  std::int32_t reserved = 0;

  auto operator<=>(const MessageFlow&) const = default;
};

struct HashOfFlow {
  std::size_t operator()(const MessageFlow& flow) const {
    const auto word = [](std::int32_t number) {
      return static_cast<std::uint64_t>(static_cast<std::uint32_t>(number));
    };
    const std::uint64_t ranks = word(flow.source) << 32U | word(flow.destination);
    return (flow.comm_id * 0x9E3779B97F4A7C15U) ^ (ranks * 0xC2B2AE3D27D4EB4FU) ^
           (word(flow.tag) * 0x165667B19E3779F9U);
  }
};

using FlowCounts = std::unordered_map<MessageFlow, std::uint64_t, HashOfFlow>;

/// The number of messages of a flow. Sent to other ranks.
struct FlowCount {
  MessageFlow flow;
  std::int32_t peer = 0;  ///< rank at the other end, in the resilient communicator
  std::int32_t reserved = 0;
  std::uint64_t count = 0;
};

inline std::uint64_t count_of(const FlowCounts& counts, const MessageFlow& flow) {
  const auto found = counts.find(flow);
  return found != counts.end() ? found->second : 0;
}

}  // namespace fenix_impl
