// SPDX-License-Identifier: BSD-3-Clause
// The messages of a program that goes on after a failure without going back: each one is logged by its sender, and numbered by its sender
// and its receiver. After a repair, receivers read from the logs what they have not got. Senders that do again what a dead rank had done skip
// messages that are in the log or have been received.
#pragma once

#include "messages/log/determinant_log.hpp"
#include "messages/log/flow_numbers.hpp"
#include "messages/log/garbage_collector.hpp"
#include "messages/log/log_eviction.hpp"
#include "messages/log/log_files.hpp"
#include "messages/log/log_gaps.hpp"
#include "messages/log/log_journals.hpp"
#include "messages/log/log_writer.hpp"
#include "messages/log/peer_logs.hpp"
#include "messages/log/replay.hpp"
#include "messages/log/sender_log.hpp"
#include "messages/log/state_numbers.hpp"
#include "rma/team.hpp"

namespace fenix_impl {

/// The parts of a log, and what ranks do with their logs together.
class MessageLog {
 public:
  MessageLog() = default;
  MessageLog(const MessageLog&) = delete;
  MessageLog& operator=(const MessageLog&) = delete;
  ~MessageLog() = default;

  [[nodiscard]] bool is_active() const { return active_; }
  void activate() { active_ = true; }
  /// Forgets all. Local.
  void clear();

  [[nodiscard]] FlowNumbers& flows() { return flows_; }
  /// Returns the outcomes on which messages may depend. They are in the journal before the next message is logged, or numbers are stored.
  [[nodiscard]] DeterminantLog& determinants() { return determinants_; }
  [[nodiscard]] LogGaps& gaps() { return gaps_; }
  [[nodiscard]] const LogGaps& gaps() const { return gaps_; }
  [[nodiscard]] LogFiles& files() { return files_; }
  [[nodiscard]] LogEviction& eviction() { return eviction_; }
  [[nodiscard]] GarbageCollector& collector() { return collector_; }
  [[nodiscard]] LogWriter& writer() { return writer_; }
  [[nodiscard]] StateNumbers& numbers() { return numbers_; }
  [[nodiscard]] SenderLog& sender() { return sender_; }
  [[nodiscard]] Replay& replay() { return replay_; }

  /// Learns how many messages each rank had logged and received when the failure was repaired. goes_back: survivors will receive messages
  /// once more. Returns false if this rank cannot read files that have what it needs. Collective, with the journals attached. Throws as
  /// Team does.
  bool reattach(Team& team, const LogJournals& journals, bool goes_back);
  /// Discards all messages and determinants: all ranks go back to a state that they have stored. Local. Throws as JournalWriter::append does.
  void discard_all(const LogJournals& journals);
  /// Learns which messages the other ranks have received. Collective: all are about to store their states. Throws as Team does.
  void meet_at_checkpoint(Team& team, const LogJournals& journals);
  /// Whether this new process cannot be what its predecessor was, as determinants are missing. Local. Throws PeerFailure, Error.
  [[nodiscard]] bool lacks_determinants_of_predecessor(const LogJournals& journals) const;
  /// Whether the predecessor of this process has sent or decided something that is still ahead. Local.
  [[nodiscard]] bool predecessor_went_on() const;

 private:
  [[nodiscard]] bool meet_about_spills(Team& team, const LogJournals& journals);

  bool active_ = false;
  FlowNumbers flows_;
  DeterminantLog determinants_;
  LogGaps gaps_;
  LogFiles files_;
  PeerLogs peers_;
  LogEviction eviction_{determinants_, gaps_, files_};
  GarbageCollector collector_{determinants_, gaps_, files_, peers_, eviction_};
  LogWriter writer_{determinants_, gaps_, eviction_, collector_};
  StateNumbers numbers_{flows_, determinants_, writer_};
  SenderLog sender_{flows_, determinants_, gaps_, files_, peers_, writer_};
  Replay replay_{flows_, determinants_, peers_, writer_};
};

}  // namespace fenix_impl
