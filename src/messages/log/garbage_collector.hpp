// SPDX-License-Identifier: BSD-3-Clause
// The garbage collector of a log: what nobody needs any more goes, as all ranks that need it have stored later states.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>

#include "messages/log/flow_numbers.hpp"
#include "messages/log/log_eviction.hpp"
#include "messages/log/peer_logs.hpp"

namespace fenix_impl {

/// All functions are local. They throw PeerFailure, and as JournalWriter::append does.
class GarbageCollector {
 public:
  using Clock = std::chrono::steady_clock;

  /// They must outlive it.
  GarbageCollector(DeterminantLog& determinants, LogGaps& gaps, LogFiles& files, const PeerLogs& peers,
                   LogEviction& eviction)
      : determinants_(determinants), gaps_(gaps), files_(files), peers_(peers), eviction_(eviction) {}

  /// Discards logged messages and determinants up to numbers of a state. only_received: of messages that had been received at the latest
  /// meeting.
  void release_until(const LogJournals& journals, std::span<const FlowNumber> numbers, bool only_received);
  /// Discards what no receiver needs that goes back to its oldest state. Returns whether another rank has stored a state.
  bool release_what_is_stable(const LogJournals& journals);
  /// Calls the function above, but not before next_look. Returns nothing if it was not called.
  std::optional<bool> look_for_states(const LogJournals& journals, Clock::time_point& next_look);
  /// Notes that a message to oneself is stored: what the log lacks may not be needed any more.
  void note_stored(const LogJournals& journals);
  /// Forgets when it has looked.
  void clear() { next_look_when_stored_ = {}; }

 private:
  void release(const LogJournals& journals, const Signature& signature, std::uint64_t number, bool keeps_newest);
  void release_determinants(const LogJournals& journals, const DeterminantLog::Position& position);

  DeterminantLog& determinants_;
  LogGaps& gaps_;
  LogFiles& files_;
  const PeerLogs& peers_;
  LogEviction& eviction_;
  Clock::time_point next_look_when_stored_;
};

}  // namespace fenix_impl
