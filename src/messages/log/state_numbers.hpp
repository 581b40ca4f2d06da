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
  StateNumbers(FlowNumbers& flows, DeterminantLog& determinants, LogWriter& writer)
      : flows_(flows), determinants_(determinants), writer_(writer) {}

  /// Returns the numbers of the messages of a communicator, sent and received, and the place in the stream of determinants.
  [[nodiscard]] std::vector<FlowNumber> numbers_of(const LogJournals& journals, std::uint64_t comm_id) const;
  /// Goes back, or on, to such numbers.
  void set_numbers_of(std::uint64_t comm_id, std::span<const FlowNumber> numbers);
  /// Stores the numbers that there are, for a message to oneself that is about to be stored. Throws as JournalWriter::append does.
  void store(const LogJournals& journals, const Signature& signature, std::uint32_t depth);
  /// Goes back to the numbers that were stored with a message of the dead rank whose place this one has. Throws Error.
  void take(const LogJournals& journals, int own_slot, const Entry& message);
  /// Forgets with which message they were taken.
  void clear() { from_ = 0; }

 private:
  void set(std::span<const FlowNumber> numbers, DeterminantLog::Position position);

  FlowNumbers& flows_;
  DeterminantLog& determinants_;
  LogWriter& writer_;
  std::uint64_t from_ = 0;  // message from which the numbers were taken
};

}  // namespace fenix_impl
