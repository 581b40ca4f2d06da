// SPDX-License-Identifier: BSD-3-Clause
// The log of what this rank sends. A sender that does again what a dead rank had done skips messages that are in the log or have been received.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/interval_set.hpp"
#include "messages/log/flow_exchange.hpp"
#include "messages/log/flow_numbers.hpp"
#include "messages/log/log_writer.hpp"
#include "messages/log/peer_logs.hpp"

namespace fenix_impl {

/// A process sends something else than was sent before it in its place.
class AnotherHistory : public Error {
 public:
  explicit AnotherHistory(const std::string& what) : Error(FENIX_ERROR_INVALID_LOGIC_CALL, what) {}
};

/// All functions are local.
class SenderLog {
 public:
  /// The answer to a message that is sent once more, and is not the one in the log.
  enum class Comparing {
    off,     ///< it is not looked at
    on,      ///< a warning, once; another length ends the job
    strict,  ///< ends the job
  };
  /// Whether a sender waits.
  enum class Sending {
    usual,
    synchronous,  ///< for its receive to begin: a receiver that takes the message from the log says so, by Replay::note_taken
  };
  /// A message that this rank has sent, and that has not been received, as far as it is known. A state is stored with such messages: nobody
  /// else has them if this rank dies, and its successor does not come to send them.
  struct Late {
    Flow flow;
    std::uint64_t number = 0;
    std::vector<std::byte> content;
  };

  /// They must outlive it.
  SenderLog(FlowNumbers& flows, DeterminantLog& determinants, LogGaps& gaps, LogFiles& files, const PeerLogs& peers,
            LogWriter& writer)
      : flows_(flows), determinants_(determinants), gaps_(gaps), files_(files), peers_(peers), writer_(writer) {}

  void compare_repeated(Comparing comparing) { comparing_ = comparing; }
  /// Logs the next message of a flow. Returns its bytes, valid until the next call; nothing if it must not be sent, as its receiver has it, or gets
  /// it from the log. Throws as JournalWriter::append does, and AnotherHistory.
  [[nodiscard]] std::optional<std::span<const std::byte>> log_send(const LogJournals& journals, const Flow& flow,
                                                                   const Payload& payload,
                                                                   Sending sending = Sending::usual);
  /// Does the same for a flow whose messages allow_send has allowed. Returns nothing if log_send has to do it: for want of room or memory, after a
  /// failure, or for outcomes that come first.
  [[nodiscard]] std::optional<std::span<const std::byte>> log_fast(const LogJournals& journals, const FastSend& flow,
                                                                   const Payload& payload);
  /// Returns whether the next message of a flow has to be sent when it is logged.
  [[nodiscard]] bool is_to_be_sent(const Flow& flow) const;
  /// Says what libfenix_mpi may do by itself with messages of a flow: nothing if the next one is in a log, or has been received.
  [[nodiscard]] FastSend allow_send(const Flow& flow);
  /// Returns the number of the latest message that this rank has sent, or 0.
  [[nodiscard]] std::uint64_t latest_sent(const Flow& flow) const;
  /// Whether the receive of a message had begun when the latest failure was repaired, or its receiver has noted since that it was taken from the
  /// log. Reads the memory of another rank. Throws PeerFailure.
  [[nodiscard]] bool was_taken(const LogJournals& journals, const Flow& flow, std::uint64_t number) const;

  /// Returns the late messages of a communicator, if no other rank has a copy of the log. Throws Error(FENIX_ERROR_NO_MEMORY) if one is not in the log
  /// any more.
  [[nodiscard]] std::vector<Late> late_messages(const LogJournals& journals, std::uint64_t comm_id) const;
  /// Logs a late message that was restored with a state. Returns whether it has to be sent. Throws as JournalWriter::append does.
  [[nodiscard]] bool log_late(const LogJournals& journals, const Late& message);

  /// Looks for messages of this rank or its predecessor, in the memory and in files.
  void find_logged(const LogJournals& journals);
  /// Adds those that were found.
  void add_logged(int own_slot, std::vector<FlowStatement>& to) const;
  /// Whether some that were found have not been sent yet by this process. wanted: of whom.
  [[nodiscard]] bool has_some_ahead(const std::function<bool(int slot)>& wanted) const;
  /// Calls take for the messages for a rank, until it returns false.
  void give(const LogJournals& journals, int reader, const TakeEntry& take) const;
  /// Forgets all.
  void clear();

 private:
  [[nodiscard]] bool has(const Flow& flow, std::uint64_t number) const;
  void compare_with_log(const LogJournals& journals, const Signature& signature, std::uint64_t number,
                        const Payload& payload);
  /// Returns the head of a message of this rank or its predecessor, in the memory or the files; nothing if it is in neither.
  [[nodiscard]] std::optional<EntryHead> own_logged(const LogJournals& journals, const Signature& signature,
                                                    std::uint64_t number);
  [[nodiscard]] std::span<const std::byte> log_message(const LogJournals& journals, const Signature& signature,
                                                       std::uint64_t number, const Payload& payload, Sending sending);
  /// Returns the depth of a message that is logged now.
  [[nodiscard]] std::uint32_t next_depth(Sending sending);

  FlowNumbers& flows_;
  DeterminantLog& determinants_;
  LogGaps& gaps_;
  LogFiles& files_;
  const PeerLogs& peers_;
  LogWriter& writer_;
  Comparing comparing_ = Comparing::on;
  bool has_told_difference_ = false;
  std::uint32_t next_order_ = 0;     // of logged messages
  std::vector<std::byte> unlogged_;  // latest message with gaps for which the log had no room
  ByFlow<IntervalSet> logged_;       // by this rank or its predecessor, when the latest failure was repaired
};

}  // namespace fenix_impl
