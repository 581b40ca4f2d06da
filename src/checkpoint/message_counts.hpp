// SPDX-License-Identifier: BSD-3-Clause
// How many messages this rank has sent and received in each flow since the latest complete line, or since the restart.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "checkpoint/channels.hpp"
#include "checkpoint/flow.hpp"
#include "checkpoint/line_record.hpp"

namespace fenix_impl {

class MessageCounts {
 public:
  /// channels must outlive it.
  explicit MessageCounts(const Channels& channels) : channels_(channels) {}

  /// Goes on from those of a line.
  void go_on_from(const LineRecord& line);
  void clear();

  /// Count a message, and return its number.
  std::uint64_t count_sent(const MessageFlow& flow) { return ++sent_[flow]; }
  std::uint64_t count_received(const MessageFlow& flow) { return ++received_[flow]; }
  /// Counts a receive that can have a wildcard or be cancelled, and returns its number.
  [[nodiscard]] std::uint64_t begin_match() { return ++receives_; }
  /// Take back the latest number of a flow.
  void take_back_sent(const MessageFlow& flow) { --sent_[flow]; }
  void take_back_received(const MessageFlow& flow) { --received_[flow]; }

  [[nodiscard]] const FlowCounts& sent() const { return sent_; }
  /// Returns the receives that have begun.
  [[nodiscard]] const FlowCounts& received() const { return received_; }
  /// Return the counter of a flow, which stays until the fast path is closed; null before its first message.
  [[nodiscard]] std::uint64_t* counter_of_sent(const MessageFlow& flow) { return counter_in(sent_, flow); }
  [[nodiscard]] std::uint64_t* counter_of_received(const MessageFlow& flow) { return counter_in(received_, flow); }
  [[nodiscard]] std::uint64_t* counter_of_matches() { return &receives_; }

  /// Writes them to a line that begins.
  void write_to(LineRecord& line) const;
  /// Counts from a complete line on. told: messages that were sent to this rank before it.
  void count_from(const LineRecord& line, const FlowCounts& told);

 private:
  [[nodiscard]] static std::uint64_t* counter_in(FlowCounts& counts, const MessageFlow& flow);
  [[nodiscard]] std::vector<FlowCount> with_peers(const FlowCounts& counts, bool are_sent) const;
  [[nodiscard]] int peer_in(const MessageFlow& flow, bool is_sent) const;

  const Channels& channels_;
  FlowCounts sent_;
  FlowCounts received_;                                              // receives that have begun
  std::unordered_map<MessageFlow, std::int32_t, HashOfFlow> peers_;  // of flows from before the restart
  std::uint64_t receives_ = 0;                                       // that can have a wildcard or be cancelled
};

}  // namespace fenix_impl
