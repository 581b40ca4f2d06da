// SPDX-License-Identifier: BSD-3-Clause
// Reads the messages in journals: those of this rank, and those in the memory of others, who may be writing them.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "messages/journal/journal_memory.hpp"
#include "messages/journal/journal_team.hpp"
#include "messages/journal/ring.hpp"

namespace fenix_impl {

/// All functions are local. They read the memory of other ranks, and throw PeerFailure.
class JournalReader {
 public:
  /// own: ring of this rank, which has the slot. All must outlive it.
  JournalReader(const JournalTeam& team, const JournalMemory& memory, const Ring& own, int slot)
      : team_(team), memory_(memory), own_(own), slot_(slot) {}

  /// Returns the messages of a slot that are kept, oldest first.
  [[nodiscard]] std::vector<Entry> messages_of(int slot) const;
  /// Returns those of one signature.
  [[nodiscard]] std::vector<Entry> messages_of(int slot, const Signature& signature) const;
  /// Reads the payload of a message of a slot, from a copy if it is damaged there. Returns false if all are damaged, or if it has been
  /// replaced in the meantime.
  [[nodiscard]] bool read(int slot, const Entry& entry, std::span<std::byte> to) const;
  /// Returns the entries of a ring that a rank has: its own one, or one that it holds.
  [[nodiscard]] std::vector<Entry> chain_of(int rank, int ring) const;
  /// Forgets what has been read of others.
  void forget() { known_.clear(); }

 private:
  [[nodiscard]] const Ring& known_ring(int slot, int rank) const;
  [[nodiscard]] bool read_ring(int rank, int ring, const Entry& entry, std::span<std::byte> to) const;
  [[nodiscard]] ReadRing reader(int rank, int ring) const;

  const JournalTeam& team_;
  const JournalMemory& memory_;
  const Ring& own_;
  int slot_;
  mutable std::map<int, Ring> known_;  // rings of others as far as they have been read, by slot
};

}  // namespace fenix_impl
