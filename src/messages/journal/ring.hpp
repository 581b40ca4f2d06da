// SPDX-License-Identifier: BSD-3-Clause
// The order of a ring: which entries are in it, which of them are still needed, and where the next one goes. Knows no memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "base/recent_map.hpp"
#include "base/vector_queue.hpp"
#include "messages/journal/entry.hpp"

namespace fenix_impl {

class Ring {
 public:
  /// Returns the bytes of a ring for so many bytes of entries that are needed. Then there is always room for one more entry that takes
  /// the place of another one, and to move all together.
  [[nodiscard]] static constexpr std::size_t bytes_for(std::size_t needed) {
    return kParts * needed + 2 * journal_format::kHeadBytes;
  }

  /// The next step on the way to a place for an entry.
  enum class Step {
    place,  ///< the entry can be put at head()
    jump,   ///< a jump has to be put at head() first
    move,   ///< the oldest entry has to be put once more, at head(), first
    none,   ///< there is no room for it
  };

  Ring() = default;
  /// capacity: bytes, a multiple of the unit.
  explicit Ring(std::size_t capacity) : capacity_(capacity) {}
  /// Goes on from entries that were found in memory, as read_chain() returns them.
  Ring(std::size_t capacity, std::span<const Entry> entries);

  [[nodiscard]] std::size_t capacity() const { return capacity_; }
  /// Returns the position of the next entry, and its sequence.
  [[nodiscard]] std::size_t head() const { return head_; }
  [[nodiscard]] std::uint64_t next_sequence() const { return next_sequence_; }
  /// Returns the number of the next message.
  [[nodiscard]] std::uint64_t next_number() const { return next_number_; }
  /// Returns the start of the chain of entries.
  [[nodiscard]] std::uint64_t start() const;
  /// Returns the end of the part in use: all of it is written before a place is written again.
  [[nodiscard]] std::size_t end() const { return end_; }
  /// Returns the bytes of the entries that are needed.
  [[nodiscard]] std::size_t needed_bytes() const { return needed_bytes_; }

  /// Returns the next step for a message with a payload of so many bytes.
  [[nodiscard]] Step next_step(const Signature& signature, std::uint32_t depth, std::size_t bytes);
  /// Returns the oldest entry that is needed, for Step::move.
  [[nodiscard]] const Entry& oldest() const { return order_.front().entry; }
  /// Notes an entry that was put at head(): a message, a jump, or the oldest one once more.
  void note(const Entry& entry);

  /// Takes the newest entry back if it is a jump: the message for which it was put has not come. The next entry is put in its place.
  void take_back_jump();

  /// Discards the messages of a signature up to a number. keeps_newest: except the newest one. The start of the chain moves on.
  void release_until(const Signature& signature, std::uint64_t number, bool keeps_newest = true);

  /// Returns the oldest message that is needed, and that has at least this depth; null if there is none. Valid until the ring changes.
  [[nodiscard]] const Entry* find_oldest(std::uint32_t least_depth);
  /// Discards it. Returns nothing if there is none.
  std::optional<Entry> release_oldest(std::uint32_t least_depth);

  /// Discards all entries before the start of the chain, as its owner has published it. Returns false if the chain cannot be followed
  /// from what is known: then it has to be read anew. For readers.
  [[nodiscard]] bool forget_before(std::uint64_t start);
  /// Returns the start of what has not been read yet. For readers.
  [[nodiscard]] std::uint64_t rest() const { return chain_start(head_, next_sequence_); }

  /// Returns the message of a signature with this number that is kept, or null. Valid until the ring changes.
  [[nodiscard]] const Entry* find(const Signature& signature, std::uint64_t number) const;
  /// Returns the messages of a signature that are kept, oldest first.
  [[nodiscard]] std::vector<Entry> messages(const Signature& signature) const;
  /// Returns all messages that are kept, oldest first.
  [[nodiscard]] std::vector<Entry> messages() const;
  /// Returns the oldest of those that have at least this depth, until they take up more than so many bytes.
  [[nodiscard]] std::vector<Entry> oldest_messages(std::uint32_t least_depth, std::size_t bytes) const;
  /// Returns all entries of the chain, jumps and what is not needed any more included.
  [[nodiscard]] std::vector<Entry> chain() const;

 private:
  struct Placed {
    Entry entry;
    bool needed = false;

    [[nodiscard]] std::size_t end() const { return entry.position + entry_bytes(entry.head.bytes); }
  };

  [[nodiscard]] Placed& placed(std::uint64_t sequence) {
    return order_[static_cast<std::size_t>(sequence - order_.front().entry.head.sequence)];
  }
  [[nodiscard]] const Placed& placed(std::uint64_t sequence) const {
    return order_[static_cast<std::size_t>(sequence - order_.front().entry.head.sequence)];
  }
  static constexpr std::size_t kParts = 5;
  static constexpr std::size_t kPartsBeforeTurn = 3;  // times the needed bytes, before the oldest entry
  static constexpr std::size_t kLeastEnd = std::size_t{16} << 10;

  /// Entries that a new message makes needless, and the bytes of those that are needed with it.
  struct Outlook {
    std::vector<std::uint64_t> replaced;
    std::size_t needed_bytes = 0;
  };
  [[nodiscard]] Outlook outlook(const Signature& signature, std::uint32_t depth, std::size_t size) const;
  [[nodiscard]] std::size_t end_for(std::size_t needed_bytes) const;
  /// The following look at the ring as if it ended at a position.
  [[nodiscard]] Step next_step(std::size_t end, std::size_t size, const Outlook& with) const;
  [[nodiscard]] bool has_room(std::size_t end, std::size_t position, std::size_t size) const;
  [[nodiscard]] bool leaves_room(std::size_t end, std::size_t position, std::size_t size, const Outlook& outlook) const;
  [[nodiscard]] bool can_move_all(std::size_t end) const;
  void release(std::uint64_t sequence);
  void remove(const Entry& entry);
  void drop_front();

  std::size_t capacity_ = 0;
  std::size_t end_ = capacity_;  // of the part in use, in which all that is needed can be moved
  std::size_t head_ = 0;
  bool turned_ = false;  // the newest entries lie before the oldest ones
  std::uint64_t next_sequence_ = 1;
  std::uint64_t next_number_ = 1;
  std::size_t needed_bytes_ = 0;
  std::uint32_t searched_depth_ = 0;  // of the latest search for the oldest message
  std::uint64_t searched_from_ = 0;   // no older one has this depth and is needed
  using Sequences = VectorQueue<std::uint64_t>;
  std::deque<Placed> order_;                                    // successive sequences
  RecentMap<Signature, Sequences, HashOfSignature> sequences_;  // of needed messages, oldest first
};

}  // namespace fenix_impl
