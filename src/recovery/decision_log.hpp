// SPDX-License-Identifier: BSD-3-Clause
// The outcomes of calls of a program that are not determined, where messages are logged: which message a wildcard has got, what a test has
// found. They are in the journal before a message is sent that may depend on them. A replacement does as they say.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "core/journal/journal.hpp"
#include "recovery/decision.hpp"

namespace fenix_impl {

class DecisionLog {
 public:
  /// Place in the stream: outcomes before it, and receives that have begun.
  struct Position {
    std::uint64_t outcomes = 0;
    std::uint64_t receives = 0;
  };
  /// The sender and the tag of the message that a receive has got.
  struct Match {
    int source = 0;
    int tag = 0;

    auto operator<=>(const Match&) const = default;
  };
  /// Appends a payload to the journal with a signature, a depth and a number.
  using Append = std::function<void(const Signature&, std::uint32_t, const Payload&, std::uint64_t)>;

  /// The depth of entries with decisions: all are kept.
  static constexpr std::uint32_t kDepth = (1U << 31U) - 1;

  /// Reads what the predecessor of a new process has decided. Local. Throws PeerFailure, Error(FENIX_ERROR_NODATA_FOUND).
  void take_up(const Journal& journal);

  /// Returns the outcome that a call must have; nothing: any. may_be_negative: the call may find nothing. Throws
  /// Error(FENIX_ERROR_INVALID_LOGIC_CALL) if the predecessor has called something else. Local.
  [[nodiscard]] std::optional<std::vector<int>> next(Decision call, bool may_be_negative);
  /// Notes the outcome of a call whose outcome was free. Empty: it has found nothing. Local.
  void note(Decision call, std::span<const int> outcome);

  /// Whether outcomes of the predecessor are ahead. Local.
  [[nodiscard]] bool is_repeating() const {
    return (!known_.empty() && known_.back().end() > position_.outcomes) ||
           (!known_matches_.empty() && known_matches_.rbegin()->first > position_.receives);
  }
  /// Returns the number of a receive that begins. Local.
  [[nodiscard]] std::uint64_t begin_receive() { return ++position_.receives; }
  /// Returns the message that a receive of the predecessor with this number has got, if it is known. Local.
  [[nodiscard]] std::optional<Match> match_of(std::uint64_t receive) const;
  /// Notes which message a receive has got. Local.
  void note_match(std::uint64_t receive, const Match& match);

  /// Whether there is something to write. Local.
  [[nodiscard]] const bool& has_new() const { return has_new_; }
  /// Writes to the journal what is not there yet. Throws as append does; then it may be repeated. Local.
  void write(const Journal& journal, const Append& append);
  [[nodiscard]] const Position& position() const { return position_; }
  /// Goes on from another place. Local.
  void set_position(const Position& position) { position_ = position; }
  /// Forgets all decisions, own ones and those of the predecessor: all ranks go back, and are free. Local.
  void forget();
  /// Lets go of what no replacement needs that begins at this place. Local.
  void release(Journal& journal, const Position& position);

 private:
  /// Outcomes that follow each other: a number of negative ones, and then perhaps one that is not.
  struct Run {
    std::uint64_t first = 0;  ///< outcomes before
    std::uint64_t negatives = 0;
    std::optional<Decision> call;  ///< of the last outcome
    std::vector<int> outcome;

    [[nodiscard]] std::uint64_t end() const { return first + negatives + (call ? 1 : 0); }
  };
  /// The outcomes and matches of an entry of the journal are before this place.
  struct Written {
    std::uint64_t number = 0;  ///< of the entry
    Position end;
  };

  [[nodiscard]] static Signature signature_in(const Journal& journal);
  void read(std::span<const std::int64_t> words, Position& end);
  [[nodiscard]] Run& open_run();

  Position position_;
  std::deque<Run> known_;                         // of the predecessor, those that are ahead
  std::map<std::uint64_t, Match> known_matches_;  // of the predecessor, by receive
  std::vector<Run> new_;                          // not in the journal yet
  std::map<std::uint64_t, Match> new_matches_;
  bool has_new_ = false;  // some of both
  std::deque<Written> written_;
  std::uint64_t next_number_ = 1;
};

}  // namespace fenix_impl
