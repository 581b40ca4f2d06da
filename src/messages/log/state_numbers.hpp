// SPDX-License-Identifier: BSD-3-Clause
// Stores the numbers of messages with the states of this rank, and goes back to them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "messages/log/flow_numbers.hpp"
#include "messages/log/log_writer.hpp"

namespace fenix_impl {

/// All functions are local.
class StateNumbers {
 public:
  /// They must outlive it.
  StateNumbers(FlowNumbers& flows, DecisionLog& decisions, LogWriter& writer)
      : flows_(flows), decisions_(decisions), writer_(writer) {}

  /// Returns the numbers of the messages of a channel, sent and received, and the place in the stream of decisions.
  [[nodiscard]] std::vector<FlowNumber> of_channel(const LogJournals& journals, std::uint64_t channel) const;
  /// Goes back, or on, to such numbers.
  void set_channel(std::uint64_t channel, std::span<const FlowNumber> numbers);
  /// Stores the numbers that there are, for a message to oneself that is about to be stored. Throws as JournalWriter::append does.
  void store(const LogJournals& journals, const Signature& signature, std::uint32_t depth);
  /// Goes back to the numbers that were stored with a message of the dead rank whose place this one has. Throws Error.
  void take(const LogJournals& journals, int own_slot, const Entry& message);
  /// Forgets with which message they were taken.
  void clear() { from_ = 0; }

 private:
  void set(std::span<const FlowNumber> numbers, DecisionLog::Position position);

  FlowNumbers& flows_;
  DecisionLog& decisions_;
  LogWriter& writer_;
  std::uint64_t from_ = 0;  // message from which the numbers were taken
};

}  // namespace fenix_impl
