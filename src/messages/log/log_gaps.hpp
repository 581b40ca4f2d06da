// SPDX-License-Identifier: BSD-3-Clause
// Messages of this rank that are missing in its log, as there was no room.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "messages/log/flow.hpp"
#include "messages/log/receipts.hpp"

namespace fenix_impl {

/// All functions are local. Flows have the number of the log.
class LogGaps {
 public:
  /// Whether messages are missing. Then no rank can go back alone.
  [[nodiscard]] bool lack_messages() const { return lack_messages_; }
  /// Notes that a message is not in the log.
  void note_missing(const Flow& flow, std::uint64_t number);
  /// Warns once that messages are missing.
  void warn();
  /// Returns the greatest number of a flow that is missing.
  [[nodiscard]] const std::map<Flow, std::uint64_t>& missing() const { return missing_; }

  /// Notes that nobody needs the messages of a flow up to a number.
  void forget_until(const Flow& flow, std::uint64_t number);
  /// Notes that the gaps that are known are all that there are.
  void settle();
  /// Notes that all ranks have stored their states: older messages are not needed any more. is_on_all: otherwise it counts from the next
  /// meeting on.
  void note_checkpoint(bool is_on_all);
  /// Notes that ranks meet to store their states.
  void begin_meeting();
  /// Forgets what others have received.
  void forget_received(const Receipts& received);
  /// Returns a flow of a communicator of which a message is missing that has not been received; nothing if there is none.
  [[nodiscard]] std::optional<Flow> find_unreceived(std::uint64_t comm_id, const Receipts& received) const;
  /// Forgets all gaps: nobody needs what was logged.
  void forget();

 private:
  std::map<Flow, std::uint64_t> missing_;
  bool lack_messages_ = false;
  bool lack_newer_ones_ = false;  // sent since the latest meeting
  bool is_stored_ = false;        // the state with which ranks met
  bool have_warned_ = false;
};

}  // namespace fenix_impl
