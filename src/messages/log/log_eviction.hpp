// SPDX-License-Identifier: BSD-3-Clause
// Eviction from a journal that is full: the oldest part of a log goes to its files, or is lost.
#pragma once

#include "messages/log/determinant_log.hpp"
#include "messages/log/log_files.hpp"
#include "messages/log/log_gaps.hpp"
#include "messages/log/log_journals.hpp"

namespace fenix_impl {

/// All functions are local, and throw as JournalWriter::append does.
class LogEviction {
 public:
  /// They must outlive it.
  LogEviction(DeterminantLog& determinants, LogGaps& gaps, LogFiles& files)
      : determinants_(determinants), gaps_(gaps), files_(files) {}

  /// Whether messages or determinants are missing, as there was no room, that a rank may need which goes back alone.
  [[nodiscard]] bool has_lost_some() const { return gaps_.lack_messages() || determinants_.lacks_some(); }
  /// Not while something is missing: what comes after it is of no use.
  [[nodiscard]] bool can_spill() const { return files_.in_use() && !has_lost_some(); }
  /// Moves the oldest part of a journal to the files. Returns false if that cannot be.
  [[nodiscard]] bool spill(const LogJournals& journals, Journal& from);
  /// Discards the oldest messages and determinants in a journal. Returns false if there are none.
  [[nodiscard]] bool discard_oldest(const LogJournals& journals, Journal& journal);
  /// Has the journal tell where the files are, so that there is room for that also when it is full.
  void note_place(const LogJournals& journals);

 private:
  void give_up_files(const LogJournals& journals);

  DeterminantLog& determinants_;
  LogGaps& gaps_;
  LogFiles& files_;
};

}  // namespace fenix_impl
