// SPDX-License-Identifier: BSD-3-Clause
// The part of a log that a rank stores with its states, so that it can go back to them: numbers, late messages, and marks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "messages/log/message_log.hpp"
#include "messages/persistent/rank_journals.hpp"
#include "messages/persistent/turns.hpp"

namespace fenix_impl {

class LogCheckpoints {
 public:
  /// All must outlive it.
  LogCheckpoints(Turns& turns, RankJournals& journals, MessageLog& log)
      : turns_(turns), journals_(journals), log_(log) {}

  /// Returns the numbers of the messages of a communicator. Local.
  [[nodiscard]] std::vector<FlowNumber> numbers(std::uint64_t comm_id);
  /// Goes on with other numbers. Local.
  void set_numbers(std::uint64_t comm_id, std::span<const FlowNumber> numbers);
  /// Discards the messages of this rank up to such numbers. only_received: of those that had been received at the latest checkpoint. Local.
  void release(std::span<const FlowNumber> numbers, bool only_received);
  /// Learns which messages have been received. Collective over the resilient communicator: all ranks are about to store their states.
  /// Throws as Team does.
  void meet();
  /// Notes that this rank has stored its state with the others. is_on_all: all have. Local.
  void note(bool is_on_all);
  /// Returns whether the log has little room left, or lacks messages. Local.
  [[nodiscard]] bool log_is_filling();
  /// Returns the messages of a communicator with which a state of this rank has to be stored. Local.
  [[nodiscard]] std::vector<SenderLog::Late> late_messages(std::uint64_t comm_id);
  /// Stores a mark for this rank or its successor; so many are kept. Local.
  void store_mark(std::uint64_t comm_id, std::uint32_t kept, std::span<const std::byte> mark);
  /// Returns the marks of this rank and its predecessors, oldest first. Local.
  [[nodiscard]] std::vector<std::vector<std::byte>> marks(std::uint64_t comm_id);

 private:
  Turns& turns_;
  RankJournals& journals_;
  MessageLog& log_;
};

}  // namespace fenix_impl
