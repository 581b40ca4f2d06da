// SPDX-License-Identifier: BSD-3-Clause
// Recovery of a journal: a new rank takes back what its slot had stored, and copies that were lost are made anew.
#pragma once

#include <set>
#include <vector>

#include "messages/journal/journal_memory.hpp"
#include "messages/journal/journal_reader.hpp"
#include "messages/journal/journal_team.hpp"
#include "messages/journal/journal_writer.hpp"

namespace fenix_impl {

class JournalRecovery {
 public:
  /// slot: of this rank. is_new: it has the place of a dead one, and lacks what that one had stored. All else must outlive it.
  JournalRecovery(const JournalTeam& team, JournalMemory& memory, const JournalReader& reader, JournalWriter& writer,
                  int slot, bool is_new)
      : team_(team), memory_(memory), reader_(reader), writer_(writer), slot_(slot), is_complete_(!is_new) {}

  /// Recovers the journals of a team whose memory is reachable. Collective. Throws as Team and Path do.
  void run(Team& team);

  /// Whether messages of this rank's slot may have been lost with ranks that had them.
  [[nodiscard]] bool has_lost_messages() const { return has_lost_messages_; }
  /// Says that all know of a loss now. Local.
  void forget_loss() { has_lost_messages_ = false; }
  /// Whether this rank cannot be made anew without its journal, as it or its predecessor has said.
  [[nodiscard]] bool is_needed() const { return is_needed_; }
  /// Says that this rank cannot be made anew without its journal, to as many ranks as may die at once. Local. Throws PeerFailure.
  void note_needed();

 private:
  /// The words of a rank about its rings.
  struct Statement;

  [[nodiscard]] Statement statement() const;
  void take_back(const std::vector<Statement>& statements);
  void protect(const std::vector<Statement>& statements, int copy);
  void tell_witnesses();

  const JournalTeam& team_;
  JournalMemory& memory_;
  const JournalReader& reader_;
  JournalWriter& writer_;
  int slot_;
  bool is_complete_;  // has what its slot had stored
  bool has_lost_messages_ = false;
  bool is_needed_ = false;
  std::set<int> in_step_;  // slots of holders that have all messages, unless they are new now
};

}  // namespace fenix_impl
