// SPDX-License-Identifier: BSD-3-Clause
// The journal of this rank: messages that it has stored, in a ring that other ranks can read, with copies on other ranks. A message
// is stored by this rank alone, and read by any rank alone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "messages/journal/journal_memory.hpp"
#include "messages/journal/ring.hpp"
#include "rma/path.hpp"
#include "rma/team.hpp"

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

/// Returns the ranks that hold copies of a rank's ring, by number of the copy; fewer than copies if there are too few ranks.
[[nodiscard]] std::vector<int> holders_of(int rank, int ranks, const JournalParameters& parameters);

class Journal {
 public:
  /// slot: of this rank. is_new: it has the place of a dead one, and lacks what that one had stored. Throws
  /// Error(FENIX_ERROR_NO_MEMORY).
  Journal(const JournalParameters& parameters, int slot, bool is_new);
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  ~Journal() = default;

  [[nodiscard]] const JournalParameters& parameters() const { return parameters_; }
  /// Stores all own messages once more, so that those that were let go of are in no copy any more. Local. Throws as append does.
  void store_again();
  /// Returns the part of the room for own messages that is taken, between 0 and 1. Local.
  [[nodiscard]] double filling() const {
    return static_cast<double>(Ring::bytes_for(ring_.needed_bytes())) / static_cast<double>(ring_.capacity());
  }
  /// Returns the slot of this rank.
  [[nodiscard]] int slot() const { return slot_; }
  /// Whether messages can be stored and read.
  [[nodiscard]] bool is_attached() const { return is_attached_; }
  /// Whether messages of this rank's slot may have been lost with ranks that had them.
  [[nodiscard]] bool has_lost_messages() const { return has_lost_messages_; }
  /// Whether this rank cannot be made anew without them, as it or its predecessor has said.
  [[nodiscard]] bool is_needed() const { return is_needed_; }
  /// Says that this rank cannot be made anew without its journal, to as many ranks as may die at once. Local. Throws PeerFailure.
  void note_needed();
  /// Says that all know of a loss now. Local.
  void forget_loss() { has_lost_messages_ = false; }

  /// Makes the rings reachable on a team. Ranks that are new get what their slots had stored; copies that were lost are made anew.
  /// choose: returns the path; slots: by rank of the team. The team has to outlive the attachment. Collective. Throws as Team and Path do; then it can be repeated on another team.
  void attach(Team& team, const std::function<std::shared_ptr<Path>()>& choose, std::vector<int> slots);
  /// Local: lets go of the team.
  void detach();

  /// Stores a message. It counts when this returns: then it survives deaths of this rank, as long as a holder is left. If it throws,
  /// the message before it is there, or after a later death of this rank this one. Throws PeerFailure, Error(FENIX_ERROR_NO_MEMORY).
  /// Local.
  void append(const Signature& signature, std::uint32_t depth, const Payload& payload) {
    append(signature, depth, payload, ring_.next_number());
  }
  /// Does the same with a number of the caller. Numbers of a signature have to ascend.
  void append(const Signature& signature, std::uint32_t depth, const Payload& payload, std::uint64_t number);
  /// Returns the message that was stored last. Local.
  [[nodiscard]] const Entry& latest() const { return latest_; }
  /// Returns the own message of a signature with this number, or null. Valid until the next call. Local.
  [[nodiscard]] const Entry* own(const Signature& signature, std::uint64_t number) const {
    return ring_.find(signature, number);
  }
  /// Returns the payload of an own message, valid until the next call. Local.
  [[nodiscard]] std::span<const std::byte> own_payload(const Entry& entry) const {
    return memory_.own_ring().subspan(entry.payload(), entry.head.bytes);
  }
  /// Lets go of own messages of a signature up to a number. keeps_newest: except the newest one, which tells that there were others. Local.
  void release_until(const Signature& signature, std::uint64_t number, bool keeps_newest = true) {
    ring_.release_until(signature, number, keeps_newest);
  }
  /// Returns the oldest own message that has at least this depth; null if there is none. Valid until the next call. Local.
  [[nodiscard]] const Entry* oldest(std::uint32_t least_depth) { return ring_.find_oldest(least_depth); }
  /// Lets go of it. Returns nothing if there is none. Local.
  std::optional<Entry> release_oldest(std::uint32_t least_depth) { return ring_.release_oldest(least_depth); }
  /// Returns the oldest own messages that have at least this depth, until they take up more than a part of all own ones. Local.
  [[nodiscard]] std::vector<Entry> oldest_part(std::uint32_t least_depth, std::size_t parts) const {
    return ring_.oldest_messages(least_depth, ring_.needed_bytes() / parts);
  }
  /// Returns the number of the latest own message, of whatever signature; 0 if there is none. Local.
  [[nodiscard]] std::uint64_t latest_number() const { return ring_.next_number() - 1; }

  /// Returns the own ring, for tests that damage it.
  [[nodiscard]] std::span<std::byte> own_ring_for_tests() const { return memory_.own_ring(); }

  /// Returns the messages of a slot that are kept, oldest first. Local, reads the memory of another rank. Throws PeerFailure.
  [[nodiscard]] std::vector<Entry> messages_of(int slot) const;
  /// Returns those of one signature.
  [[nodiscard]] std::vector<Entry> messages_of(int slot, const Signature& signature) const;
  /// Reads the payload of a message of a slot, from a copy if it is damaged there. Returns false if all are damaged, or if it has been
  /// replaced in the meantime. Local. Throws PeerFailure.
  [[nodiscard]] bool read(int slot, const Entry& entry, std::span<std::byte> to) const;

 private:
  /// The words of a rank about its rings.
  struct Statement;

  [[nodiscard]] std::vector<Entry> chain_of(int rank, int ring) const;
  [[nodiscard]] const Ring& known_ring(int slot, int rank) const;
  [[nodiscard]] bool read_ring(int rank, int ring, const Entry& entry, std::span<std::byte> to) const;
  [[nodiscard]] ReadRing reader(int rank, int ring) const;
  void take_back(const std::vector<Statement>& statements);
  void protect(const std::vector<Statement>& statements, int copy);
  void push_all(int holder, int ring);
  [[nodiscard]] std::vector<int> witnesses() const;
  void tell_witnesses();
  void put(const EntryHead& head, const Payload& payload);
  void write(const EntryHead& head, const Payload& payload);
  void write_with_copies(EntryHead& head, std::size_t position, const Payload& payload);
  void move_oldest();
  void publish_start();
  void make_room(std::size_t end);
  [[nodiscard]] std::size_t place(std::size_t copy, std::size_t position) const;
  [[nodiscard]] int rank_of(int slot) const;

  JournalParameters parameters_;
  int slot_;
  int rank_ = -1;
  bool is_attached_ = false;
  bool is_complete_;            // has what its slot had stored
  bool was_cut_short_ = false;  // the latest write: holders may have more of it than this rank
  bool has_lost_messages_ = false;
  bool is_needed_ = false;
  JournalMemory memory_;
  Ring ring_;
  Entry latest_;  // message that was stored last
  std::uint64_t published_start_ = 0;
  std::vector<std::size_t> reserved_;  // bytes of the ring that have memory, by copy
  std::vector<int> holders_;           // by number of the copy
  std::set<int> in_step_;              // slots of holders that have all messages, unless they are new now
  std::vector<int> slots_;             // by rank
  std::shared_ptr<Path> path_;
  std::unique_ptr<RemoteRegions> remote_;
  mutable std::map<int, Ring> known_;  // rings of others as far as they have been read, by slot
};

}  // namespace fenix_impl
