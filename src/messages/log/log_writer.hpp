// SPDX-License-Identifier: BSD-3-Clause
// Writes the entries of a log to its journals. Older entries make room for them. The program goes on, whatever the log can keep.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "messages/log/garbage_collector.hpp"
#include "messages/log/log_eviction.hpp"

namespace fenix_impl {

/// All functions are local, and throw as JournalWriter::append does.
class LogWriter {
 public:
  /// They must outlive it.
  LogWriter(DeterminantLog& determinants, LogGaps& gaps, LogEviction& eviction, GarbageCollector& collector)
      : determinants_(determinants), gaps_(gaps), eviction_(eviction), collector_(collector) {}

  /// Writes the outcomes on which messages may depend: something that others can see is about to be stored.
  void write_determinants(const LogJournals& journals) {
    if (determinants_.has_new()) write_new_determinants(journals);
  }
  /// Appends to the journal that is held. Discards what is logged if there is no room otherwise.
  void append(const LogJournals& journals, const Signature& signature, std::uint32_t depth, const Payload& payload,
              std::optional<std::uint64_t> number = std::nullopt);
  /// Appends to a journal. Returns false if there is no room, not even when all that is logged has gone.
  [[nodiscard]] bool put(Journal& journal, const LogJournals& journals, const Signature& signature, std::uint32_t depth,
                         const Payload& payload, std::uint64_t number);
  /// Forgets how it has waited for room.
  void clear();

 private:
  using TryToAppend = std::function<bool()>;

  void write_new_determinants(const LogJournals& journals);
  bool wait_for_room(const LogJournals& journals, const TryToAppend& append);

  DeterminantLog& determinants_;
  LogGaps& gaps_;
  LogEviction& eviction_;
  GarbageCollector& collector_;
  bool waits_in_vain_ = false;                              // for states that make room
  GarbageCollector::Clock::time_point next_look_for_room_;  // at such states: not before
};

}  // namespace fenix_impl
