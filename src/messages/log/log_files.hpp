// SPDX-License-Identifier: BSD-3-Clause
// The files in which the log of this rank goes on. The journal has a note of where they are.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "messages/journal/log_spill.hpp"
#include "messages/journal/spill_reader.hpp"
#include "messages/log/determinant_log.hpp"
#include "messages/log/log_journals.hpp"

namespace fenix_impl {

/// All functions are local.
class LogFiles {
 public:
  /// Has the log go on in files where memory ends, if there is a folder for them. More calls have no effect.
  void begin(const SpillOptions& options, int slot);
  [[nodiscard]] bool in_use() const { return spill_ != nullptr; }
  /// Returns the writer of the files; null if they are not in use.
  [[nodiscard]] LogSpill* spill() const { return spill_.get(); }

  /// Whether the journal tells where the files are now, or needs not.
  [[nodiscard]] bool are_noted() const { return spill_ == nullptr || noted_place_ == spill_->place(); }
  /// Notes it in the journal. Returns false if that has no room. Throws as JournalWriter::append does.
  [[nodiscard]] bool note_place(Journal& held);
  /// Goes on with the files that a new process finds in its journal. Returns the files of the predecessor if it cannot go on with them.
  [[nodiscard]] std::optional<SpillPlace> take_over(const LogJournals& journals);

  /// Returns the determinants of a predecessor that are in the files.
  [[nodiscard]] std::vector<DeterminantLog::Older> determinants(const Journal& held) const;
  /// Returns the head of a message of this rank or its predecessor that is in the files, or nothing.
  [[nodiscard]] std::optional<EntryHead> find(const Signature& signature, std::uint64_t number);
  /// Has the next call of find look at the files anew.
  void forget_found() { reader_.reset(); }
  /// Calls take for the messages for a rank, until it returns false. Returns false then.
  bool give(int reader, const TakeEntry& take) const;

 private:
  std::unique_ptr<LogSpill> spill_;      // none: the log has only its memory
  SpillPlace noted_place_;               // of the files, as it is in the journal
  std::unique_ptr<SpillReader> reader_;  // for messages that are sent once more
  SpillPlace place_of_reader_;           // of the files when they were looked at
};

}  // namespace fenix_impl
