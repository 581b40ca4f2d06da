// SPDX-License-Identifier: BSD-3-Clause
#include "messages/journal/journal_recovery.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "base/fault.hpp"
#include "core/common/meeting.hpp"

namespace fenix_impl {

struct JournalRecovery::Statement {
  std::int32_t slot = 0;
  std::array<std::int32_t, JournalParameters::kMostCopies> held{};   ///< slots whose rings it holds, by copy
  std::array<std::int32_t, JournalLayout::kMostWitnesses> needed{};  ///< slots that need their journals, or −1
};

JournalRecovery::Statement JournalRecovery::statement() const {
  Statement mine{slot_, {}};
  for (int copy = 0; copy < JournalParameters::kMostCopies; ++copy) {
    const bool exists = copy < team_.parameters().copies;
    const auto owner = exists ? memory_.word(memory_.layout().owner(copy + 1)) : 0;
    mine.held[static_cast<std::size_t>(copy)] = static_cast<std::int32_t>(owner) - 1;
  }
  for (int distance = 1; distance <= JournalLayout::kMostWitnesses; ++distance) {
    const auto word = memory_.word(JournalLayout::witness(distance));
    mine.needed[static_cast<std::size_t>(distance) - 1] = static_cast<std::int32_t>(word) - 1;
  }
  return mine;
}

void JournalRecovery::run(Team& team) {
  const std::vector<Statement> statements = team.gather(statement());
  for (const Statement& each : statements) {
    is_needed_ = is_needed_ || std::find(each.needed.begin(), each.needed.end(), slot_) != each.needed.end();
  }
  (void)meet(team, Operation::journal_taken, 0, 0, [&] {
    if (!is_complete_) take_back(statements);
  });
  fault_point("journal.taken");
  // Held rings may get other owners now: all have taken back what was in them.
  (void)meet(team, Operation::journal_protected, 0, 0, [&] {
    // Copies that are made anew begin with the oldest entry that is needed.
    writer_.begin_anew();
    for (std::size_t copy = 0; copy < team_.holders().size(); ++copy) protect(statements, static_cast<int>(copy));
    if (is_needed_) tell_witnesses();
  });
  writer_.settle();
}

// Takes the longest of the copies: the dead rank may not have come to write to all of them.
void JournalRecovery::take_back(const std::vector<Statement>& statements) {
  std::vector<Entry> longest;
  std::pair<int, int> from{JournalTeam::kNoRank, 0};
  for (std::size_t rank = 0; rank < statements.size(); ++rank) {
    for (int copy = 0; copy < team_.parameters().copies; ++copy) {
      if (statements[rank].held[static_cast<std::size_t>(copy)] != slot_) continue;
      std::vector<Entry> chain = reader_.chain_of(static_cast<int>(rank), copy + 1);
      const bool is_longer =
          from.first == JournalTeam::kNoRank ||
          (!chain.empty() && (longest.empty() || chain.back().head.sequence > longest.back().head.sequence));
      if (is_longer) {
        longest = std::move(chain);
        from = {static_cast<int>(rank), copy + 1};
      }
    }
  }
  has_lost_messages_ = from.first == JournalTeam::kNoRank;
  if (!longest.empty()) {
    const auto ring = memory_.own_ring();
    for (const Entry& entry : longest) {
      const std::size_t size = journal_format::kHeadBytes + entry.head.bytes;
      memory_.reserve(entry.position + entry_bytes(entry.head.bytes));
      team_.remote().get(from.first, memory_.layout().ring(from.second) + entry.position,
                         ring.subspan(entry.position, size));
    }
  }
  writer_.go_on_from(longest);
  // The others may have less.
  if (!has_lost_messages_) in_step_ = {team_.slot_of(from.first)};
  is_complete_ = true;
}

void JournalRecovery::protect(const std::vector<Statement>& statements, int copy) {
  const int holder = team_.holders()[static_cast<std::size_t>(copy)];
  const Statement& there = statements[static_cast<std::size_t>(holder)];
  const bool has_it = there.held[static_cast<std::size_t>(copy)] == slot_;
  const int holder_slot = team_.slot_of(holder);
  if (!has_it || in_step_.count(holder_slot) == 0) {
    writer_.push_all(holder, copy + 1);
    in_step_.insert(holder_slot);
    return;
  }
  writer_.cut(holder, copy + 1);
}

void JournalRecovery::note_needed() {
  if (is_needed_) return;
  tell_witnesses();
  is_needed_ = true;
}

void JournalRecovery::tell_witnesses() {
  int distance = 0;
  for (const int witness : team_.witnesses()) {
    team_.remote().put_word(witness, JournalLayout::witness(++distance), static_cast<std::uint64_t>(slot_) + 1);
    team_.remote().flush(witness);
  }
}

}  // namespace fenix_impl
