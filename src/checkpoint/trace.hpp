// SPDX-License-Identifier: BSD-3-Clause
// The events of a rank between its checkpoint and the end of its log: messages that it has sent and got, and outcomes that were not
// determined (Bronevetsky et al., 2.3 and 3.2). After a restart, outcomes are forced up to the greatest consistent cut of the traces of all ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "checkpoint/flow.hpp"
#include "interposition/determinant_kind.hpp"

namespace fenix_impl {

class Trace {
 public:
  using Words = std::vector<std::int64_t>;

  void note_sent(const MessageFlow& flow);
  /// Also for a message that is there, and that is received later.
  void note_delivered(const MessageFlow& flow, std::uint64_t number);
  /// Empty: the call has found nothing.
  void note_outcome(DeterminantKind call, std::span<const int> outcome);
  void note_match(std::uint64_t receive, int source, int tag);
  void clear();

  [[nodiscard]] const std::vector<MessageFlow>& flows() const { return flows_; }
  [[nodiscard]] const Words& words() const { return words_; }
  /// Makes one of what another process has written. Throws Error(FENIX_ERROR_NODATA_FOUND) if it cannot be a trace.
  static Trace of(std::vector<MessageFlow> flows, Words words);

  /// Adds the messages that were sent before a place.
  void add_sent(std::size_t end, FlowCounts& sent) const;
  /// Returns the first place at which a message was got that its sender has not sent, or the end. sent: by all ranks, before their own ends.
  [[nodiscard]] std::size_t first_without_sender(std::size_t end, const FlowCounts& sent) const;

 private:
  friend class ForcedOutcomes;

  // Each event is one of these words, and what follows it.
  enum Event : std::int64_t {
    sent = 1,   ///< flow
    delivered,  ///< flow, number
    outcome,    ///< call, length, numbers
    negatives,  ///< number of calls that have found nothing, one after the other
    match,      ///< receive, source, tag
  };

  /// Calls visit(place, event, what follows it) up to a place, until it returns false.
  template <class Visit>
  void for_each(std::size_t end, const Visit& visit) const;
  std::int64_t index_of(const MessageFlow& flow);
  [[nodiscard]] bool makes_sense() const;

  std::vector<MessageFlow> flows_;
  std::unordered_map<MessageFlow, std::int64_t, HashOfFlow> indices_;
  Words words_;
  std::size_t last_ = 0;  // place of the latest event
};

/// The outcomes that the calls of a rank must have after a restart.
class ForcedOutcomes {
 public:
  struct Match {
    int source = 0;
    int tag = 0;
  };

  ForcedOutcomes() = default;
  /// receives: those that had begun at the checkpoint.
  ForcedOutcomes(const Trace& trace, std::size_t end);

  [[nodiscard]] bool empty() const { return outcomes_.empty() && matches_.empty(); }
  /// Returns the outcome that a call must have; nothing: any. Throws Error(FENIX_ERROR_INVALID_LOGIC_CALL) if another call is due.
  [[nodiscard]] std::optional<std::vector<int>> next(DeterminantKind call, bool may_be_negative);
  /// Returns the message that a receive with this number must get, if it is known.
  [[nodiscard]] std::optional<Match> match_of(std::uint64_t receive);

 private:
  struct Outcome {
    std::uint64_t negatives = 0;
    DeterminantKind call{};
    std::vector<int> numbers;
  };

  std::deque<Outcome> outcomes_;
  std::map<std::uint64_t, Match> matches_;
};

}  // namespace fenix_impl
