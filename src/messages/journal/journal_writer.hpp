// SPDX-License-Identifier: BSD-3-Clause
// Writes the messages of this rank to its ring, and to the copies of that on other ranks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "messages/journal/journal_memory.hpp"
#include "messages/journal/journal_team.hpp"
#include "messages/journal/ring.hpp"

namespace fenix_impl {

/// The bytes of a message: as they are in memory, or written by a function.
struct Payload {
  std::size_t bytes = 0;
  std::span<const std::byte> data;                         ///< the bytes, if pack is empty
  std::function<void(std::span<std::byte> to)> pack = {};  ///< writes all bytes

  /// Writes all bytes to memory that has just that room.
  void copy_to(std::span<std::byte> to) const {
    if (pack) {
      pack(to);
    } else {
      std::copy(data.begin(), data.end(), to.begin());
    }
  }
};

/// All functions are local.
class JournalWriter {
 public:
  /// slot: of this rank. All else must outlive it.
  JournalWriter(const JournalTeam& team, JournalMemory& memory, int slot);

  /// Returns the order of the own messages.
  [[nodiscard]] Ring& ring() { return ring_; }
  [[nodiscard]] const Ring& ring() const { return ring_; }

  /// Stores a message. It counts when this returns: then it survives deaths of this rank, as long as a holder is left. If it throws,
  /// the message before it is there, or after a later death of this rank this one. Throws PeerFailure, Error(FENIX_ERROR_NO_MEMORY).
  void append(const Signature& signature, std::uint32_t depth, const Payload& payload) {
    append(signature, depth, payload, ring_.next_number());
  }
  /// Does the same with a number of the caller. Numbers of a signature have to ascend.
  void append(const Signature& signature, std::uint32_t depth, const Payload& payload, std::uint64_t number);
  /// Stores all own messages once more, so that those that were discarded are in no copy any more. Throws as append does.
  void store_again();
  /// Returns the message that was stored last.
  [[nodiscard]] const Entry& latest() const { return latest_; }
  /// Returns the number of the latest message, of whatever signature; 0 if there is none.
  [[nodiscard]] std::uint64_t latest_number() const { return ring_.next_number() - 1; }
  /// Returns the payload of an own message, valid until the next call.
  [[nodiscard]] std::span<const std::byte> payload_of(const Entry& entry) const {
    return memory_.own_ring().subspan(entry.payload(), entry.head.bytes);
  }
  /// Returns the part of the room for own messages that is taken, between 0 and 1.
  [[nodiscard]] double filling() const {
    return static_cast<double>(Ring::bytes_for(ring_.needed_bytes())) / static_cast<double>(ring_.capacity());
  }

  /// Begins with holders whose rings have no memory yet.
  void begin_holders() { reserved_.assign(team_.holders().size(), 0); }
  /// Goes on from entries that are in the own ring.
  void go_on_from(std::span<const Entry> chain);
  /// Has the own ring begin with the oldest entry that is needed.
  void begin_anew();
  /// Writes all entries to a holder. ring: number of the ring there.
  void push_all(int holder, int ring);
  /// Takes back what a failure has cut short on a holder, which has all else.
  void cut(int holder, int ring);
  /// Notes that holders have no more of the latest message than this rank.
  void settle() { was_cut_short_ = false; }

 private:
  void put(const EntryHead& head, const Payload& payload);
  void write(const EntryHead& head, const Payload& payload);
  void write_with_copies(EntryHead& head, std::size_t position, const Payload& payload);
  void void_next(int holder, int ring);
  void move_oldest();
  void publish_start();
  void make_room(std::size_t end);
  [[nodiscard]] std::size_t place(std::size_t copy, std::size_t position) const;

  const JournalTeam& team_;
  JournalMemory& memory_;
  int slot_;
  Ring ring_;
  Entry latest_;                       // message that was stored last
  std::uint64_t published_start_ = 0;  // of the chain
  std::vector<std::size_t> reserved_;  // bytes of the ring that have memory, by copy
  bool was_cut_short_ = false;         // the latest write: holders may have more of it than this rank
};

}  // namespace fenix_impl
