// SPDX-License-Identifier: BSD-3-Clause
// The journal of this rank: messages that it has stored, in a ring that other ranks can read, with copies on other ranks. A message
// is stored by this rank alone, and read by any rank alone.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "messages/journal/journal_memory.hpp"
#include "messages/journal/journal_reader.hpp"
#include "messages/journal/journal_recovery.hpp"
#include "messages/journal/journal_team.hpp"
#include "messages/journal/journal_writer.hpp"
#include "messages/journal/ring.hpp"

namespace fenix_impl {

class Journal {
 public:
  /// slot: of this rank. is_new: it has the place of a dead one, and lacks what that one had stored. Throws
  /// Error(FENIX_ERROR_NO_MEMORY).
  Journal(const JournalParameters& parameters, int slot, bool is_new);
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  ~Journal() = default;

  [[nodiscard]] const JournalParameters& parameters() const { return team_.parameters(); }
  /// Returns the slot of this rank.
  [[nodiscard]] int slot() const { return slot_; }
  /// Whether messages can be stored and read.
  [[nodiscard]] bool is_attached() const { return is_attached_; }

  /// Makes the rings reachable on a team. Ranks that are new get what their slots had stored; copies that were lost are made anew.
  /// choose: returns the path; slots: by rank of the team. The team has to outlive the attachment. Collective. Throws as Team and Path do; then it can be repeated on another team.
  void attach(Team& team, const std::function<std::shared_ptr<Path>()>& choose, std::vector<int> slots);
  /// Local: detaches from the team.
  void detach();

  [[nodiscard]] JournalWriter& writer() { return writer_; }
  [[nodiscard]] const JournalWriter& writer() const { return writer_; }
  [[nodiscard]] const JournalReader& reader() const { return reader_; }
  [[nodiscard]] JournalRecovery& recovery() { return recovery_; }
  /// Returns the order of the own messages.
  [[nodiscard]] Ring& ring() { return writer_.ring(); }
  [[nodiscard]] const Ring& ring() const { return writer_.ring(); }

  /// Returns the own ring, for tests that damage it.
  [[nodiscard]] std::span<std::byte> own_ring_for_tests() const { return memory_.own_ring(); }

 private:
  int slot_;
  bool is_attached_ = false;
  JournalMemory memory_;
  JournalTeam team_;
  JournalWriter writer_;
  JournalReader reader_;
  JournalRecovery recovery_;
};

}  // namespace fenix_impl
