// SPDX-License-Identifier: BSD-3-Clause
// Determinants: outcomes of calls that may differ in a second run, as the match of a wildcard or the result of a test. They are in the
// journal before a message is sent that may depend on them, and a replacement gets the same ones. A journal that is full discards the oldest
// ones, and has an entry that says so: then no replacement can begin before them.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "interposition/determinant_kind.hpp"
#include "messages/journal/journal.hpp"

namespace fenix_impl {

class DeterminantLog {
 public:
  /// Place in the stream: outcomes before it, and receives that have begun.
  struct Position {
    std::uint64_t outcomes = 0;
    std::uint64_t receives = 0;

    bool operator==(const Position&) const = default;
    /// Whether something is before this place that is not before the other one.
    [[nodiscard]] bool is_beyond(const Position& other) const {
      return outcomes > other.outcomes || receives > other.receives;
    }
    void move_beyond(const Position& other) {
      outcomes = std::max(outcomes, other.outcomes);
      receives = std::max(receives, other.receives);
    }
  };
  /// The sender and the tag of the message that a receive has got.
  struct Match {
    int source = 0;
    int tag = 0;

    auto operator<=>(const Match&) const = default;
  };
  /// Appends a payload to the journal with a signature, a depth and a number. Returns false if there is no room.
  using Append = std::function<bool(const Signature&, std::uint32_t, const Payload&, std::uint64_t)>;

  /// The depth of entries with determinants: all are kept.
  static constexpr std::uint32_t kDepth = (1U << 31U) - 1;

  /// Returns the signature of entries with determinants in a journal.
  [[nodiscard]] static Signature signature_in(const Journal& journal);
  /// An entry that is in the journal no more.
  struct Older {
    std::uint64_t number = 0;
    std::vector<std::byte> payload;
  };
  /// Reads the determinants of the predecessor of a new process. begin: the new process begins there. older: returns entries that were in the
  /// journal before. Local. Throws PeerFailure, Error(FENIX_ERROR_NODATA_FOUND).
  void reattach(const Journal& journal, const Position& begin, const std::function<std::vector<Older>()>& older = {});
  /// Whether determinants of the predecessor are in no journal any more that a new process needs which begins there. Throws as reattach does.
  [[nodiscard]] bool lacks_those_of_predecessor(const Journal& journal, const Position& begin) const;

  /// Returns the outcome that a call must have; nothing: any. may_be_negative: the call may find nothing. Throws
  /// Error(FENIX_ERROR_INVALID_LOGIC_CALL) if the predecessor has called something else. Local.
  [[nodiscard]] std::optional<std::vector<int>> next(DeterminantKind call, bool may_be_negative);
  /// Notes the outcome of a call whose outcome was free. Empty: it has found nothing. Local.
  void note(DeterminantKind call, std::span<const int> outcome);

  /// Whether outcomes of the predecessor are ahead. Local.
  [[nodiscard]] bool is_repeating() const {
    return (!known_.empty() && known_.back().end() > position_.outcomes) ||
           (!known_matches_.empty() && known_matches_.rbegin()->first > position_.receives);
  }
  /// Returns the number of a receive that begins. Local.
  [[nodiscard]] std::uint64_t begin_receive() { return ++position_.receives; }
  /// Returns the number of receives that have begun, which others may count on. Local.
  [[nodiscard]] std::uint64_t& receives() { return position_.receives; }
  /// Returns the message that a receive of the predecessor with this number has got, if it is known. Local.
  [[nodiscard]] std::optional<Match> match_of(std::uint64_t receive) const;
  /// Notes which message a receive has got. Local.
  void note_match(std::uint64_t receive, const Match& match);

  /// Whether there is something to write. Local.
  [[nodiscard]] const bool& has_new() const { return has_new_; }
  /// Whether there is so much to write that it should not wait for the next message. Local.
  [[nodiscard]] bool has_many() const { return new_.size() + new_matches_.size() >= kMany; }
  /// Writes to the journal what is not there yet. Throws as append does; then it may be repeated. Local.
  void write(Journal& journal, const Append& append);
  [[nodiscard]] const Position& position() const { return position_; }
  /// Goes on from another place. Local.
  void set_position(const Position& position) { position_ = position; }
  /// Forgets all determinants, own ones and those of the predecessor: all ranks go back, and are free. Local. Throws as JournalWriter::append does.
  void forget(Journal& journal);
  /// Discards what no replacement needs that begins at this place: none will begin before it. Returns the number of the latest entry of which
  /// that holds, or 0. Local. Throws as JournalWriter::append does.
  std::uint64_t release(Journal& journal, const Position& position);
  /// Notes that the entries up to a number are about to go from the journal, as there is no room. Returns true if the journal has an entry more that
  /// says so: others may have moved. Local. Throws as JournalWriter::append does; then they have to stay.
  bool lose(Journal& journal, std::uint64_t number);
  /// Notes that the entries up to a number have gone from the journal to files. They are discarded together: this log keeps one place for all.
  void note_spilled(std::uint64_t number);
  /// Returns how many places of entries it keeps. Local.
  [[nodiscard]] std::size_t places() const { return written_.size(); }
  /// Whether a replacement of this rank may need determinants that are in the journal no more. Local.
  [[nodiscard]] bool lacks_some() const { return lost_.is_beyond(begin_); }

 private:
  /// Outcomes that follow each other: a number of negative ones, and then perhaps one that is not.
  struct Run {
    std::uint64_t first = 0;  ///< outcomes before
    std::uint64_t negatives = 0;
    std::optional<DeterminantKind> call;  ///< of the last outcome
    std::vector<int> outcome;

    [[nodiscard]] std::uint64_t end() const { return first + negatives + (call ? 1 : 0); }
  };
  /// The outcomes and matches of an entry of the journal are before this place.
  struct Written {
    std::uint64_t number = 0;  ///< of the entry
    Position end;
  };

  static constexpr std::size_t kMany = 512;

  /// The signature of the entry that says which determinants are lost.
  [[nodiscard]] static Signature signature_of_loss(const Journal& journal);
  /// Returns the place before which some are lost, as the journal says; nothing if it says nothing.
  [[nodiscard]] static std::optional<Position> read_loss(const Journal& journal);
  void say_lost(Journal& journal, const Position& until);
  /// Whether this process has determinants, own ones or those of its predecessor.
  [[nodiscard]] bool is_begun() const { return next_number_ > 1 || position_.outcomes > 0 || position_.receives > 0; }
  void read(std::span<const std::int64_t> words, Position& end);
  [[nodiscard]] Run& open_run();

  Position position_;
  std::deque<Run> known_;                         // of the predecessor, those that are ahead
  std::map<std::uint64_t, Match> known_matches_;  // of the predecessor, by receive
  std::vector<Run> new_;                          // not in the journal yet
  std::map<std::uint64_t, Match> new_matches_;
  bool has_new_ = false;  // some of both
  std::deque<Written> written_;
  std::size_t spilled_ = 0;  // so many of these, the first ones, are places of many entries that are in files
  std::uint64_t next_number_ = 1;
  bool tells_of_loss_ = false;  // the journal has an entry for it
  Position lost_;               // some before this place are lost
  Position begin_;              // no replacement begins before it
};

}  // namespace fenix_impl
