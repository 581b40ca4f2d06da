// SPDX-License-Identifier: BSD-3-Clause
// The time after a restart, until all that the line depends on is done again: messages come from the log, some are not sent again, and outcomes are
// those of before.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "checkpoint/channels.hpp"
#include "checkpoint/line_record.hpp"
#include "checkpoint/message_counts.hpp"
#include "checkpoint/trace.hpp"
#include "interposition/partner.hpp"
#include "rma/team.hpp"

namespace fenix_impl {

class CheckpointReplay {
 public:
  /// Both must outlive it.
  CheckpointReplay(Channels& channels, const MessageCounts& counts) : channels_(channels), counts_(counts) {}

  /// Begins with a line from which the counts go on already, and takes its late messages. Collective over the team. Throws as Team does,
  /// Error(FENIX_ERROR_NODATA_FOUND).
  void begin(LineRecord& line, Team& team);
  void clear();

  [[nodiscard]] bool is_over() const { return forced_.empty() && late_.empty() && open_early_ == 0; }
  /// Whether some message comes from the log.
  [[nodiscard]] bool has_logged() const { return !late_.empty(); }
  /// Whether some message is not sent again.
  [[nodiscard]] bool has_early() const { return open_early_ > 0; }
  [[nodiscard]] bool has_forced() const { return !forced_.empty(); }
  [[nodiscard]] std::size_t logged_messages() const { return late_.size(); }
  [[nodiscard]] std::uint64_t early_messages() const { return open_early_; }

  /// Returns whether the receiver of a message that is about to be sent has had it before the restart.
  [[nodiscard]] bool was_received(const MessageFlow& flow, std::uint64_t number);
  /// Returns a late message from before the restart, or null.
  [[nodiscard]] const LateMessage* logged(const Partner& from, std::uint64_t number);
  /// Returns the first late message that no receive has got, or null. The rank and the tag may be wildcards.
  [[nodiscard]] const LateMessage* find(const Partner& from);
  /// As in DeterminantLog.
  [[nodiscard]] std::optional<std::vector<int>> next(DeterminantKind call, bool may_be_negative) {
    return forced_.next(call, may_be_negative);
  }
  [[nodiscard]] std::optional<ForcedOutcomes::Match> match_of(std::uint64_t receive) {
    return forced_.match_of(receive);
  }

 private:
  void exchange_counts(const LineRecord& line, Team& team);
  void force_outcomes(const LineRecord& line, Team& team);

  Channels& channels_;
  const MessageCounts& counts_;
  FlowCounts early_;               // numbers up to which messages are not sent again
  std::uint64_t open_early_ = 0;   // messages of these
  std::vector<LateMessage> late_;  // that no receive has got
  LateMessage taken_;              // the latest one that has been got
  ForcedOutcomes forced_;
};

}  // namespace fenix_impl
