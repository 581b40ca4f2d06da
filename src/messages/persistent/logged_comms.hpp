// SPDX-License-Identifier: BSD-3-Clause
// Ordinary communicators, whose messages are logged.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <map>
#include <optional>
#include <span>

#include "interposition/partner.hpp"
#include "messages/log/message_log.hpp"
#include "messages/persistent/comm_slots.hpp"
#include "messages/persistent/persist_options.hpp"
#include "messages/persistent/rank_journals.hpp"
#include "messages/persistent/stored_message.hpp"
#include "messages/persistent/turns.hpp"

namespace fenix_impl {

class LoggedComms {
 public:
  /// All must outlive it.
  LoggedComms(const Process& process, Turns& turns, RankJournals& journals, MessageLog& log)
      : process_(process), turns_(turns), journals_(journals), log_(log) {}

  /// Says where the log of messages goes on when its memory is full. At the start. Local.
  void spill_to(const SpillOptions& options) { spill_ = options; }
  /// Sets these files up, when the journals are there. Local.
  void begin_files() { log_.files().begin(spill_, journals_.held().slot()); }
  /// Has messages logged from now on. Collective over the resilient communicator; replacements call it before anything else, and meet
  /// nobody.
  void log_messages(const LogOptions& options);
  /// Has them logged from the next repair on, which makes the journals: a rank has died. Until then calls that need them throw PeerFailure. Local.
  void log_messages_after_repair(const LogOptions& options);
  /// Forgets what was looked up of late. Local.
  void forget_flows() { known_flows_.forget(); }
  /// Ends the use. Local.
  void clear();

  /// Calls work with the log and its journals, while nobody else uses them.
  template <class Work>
  auto with_log(const Work& work) {
    const auto turn = turns_.take();
    return work(log_, journals_);
  }
  /// Calls work with the determinants, while nobody else uses them.
  template <class Work>
  auto with_determinants(const Work& work) {
    const auto turn = turns_.take();
    journals_.require();
    write_many_determinants();
    return work(log_.determinants());
  }

  /// Returns the flow of messages with a partner. now: what the name of the communicator stands for. Local.
  [[nodiscard]] Flow flow_of(const Partner& partner, MPI_Comm now);
  /// Returns the flow if it was looked up of late: then messages can be logged, and the rank and the tag are right. Local.
  [[nodiscard]] std::optional<Flow> known_flow_of(const Partner& partner);
  /// Say what libfenix_mpi may do by itself with messages of a partner. Local.
  [[nodiscard]] FastSend allow_send(const Partner& to);
  [[nodiscard]] FastReceive allow_receive(const Partner& from);
  /// Logs a message to a partner whose messages allow_send has allowed. Returns its bytes, valid until the next call; nothing if
  /// SenderLog::log_send has to do it. Local.
  [[nodiscard]] std::optional<std::span<const std::byte>> log_fast(const FastSend& partner, const Payload& payload) {
    return log_.sender().log_fast(journals_.of_log(), partner, payload);
  }
  /// Returns whether the next message has to be sent when it is logged. Stores the outcomes on which it may depend. Local.
  [[nodiscard]] bool prepare_send(const Flow& flow);
  /// Returns the same if there are no outcomes to be stored; otherwise nothing. Local.
  [[nodiscard]] std::optional<bool> is_to_be_sent(const Flow& flow);
  /// Returns the oldest message that has to be taken from a log, and that no receive has got. source may be MPI_ANY_SOURCE, tag may be
  /// MPI_ANY_TAG. Local.
  [[nodiscard]] std::optional<StoredMessage> find_unreceived(MPI_Comm name, MPI_Comm now, std::uint64_t comm_id,
                                                             int source, int tag);
  /// Returns the message with this number if it has to be taken from the log of its sender. Its rank is the slot. anew: its sender may have moved
  /// it since the last call. Local.
  [[nodiscard]] std::optional<StoredMessage> logged(const Flow& flow, std::uint64_t number, bool anew);
  /// Logs a message that was restored with a state. Returns the rank to which it has to be sent, if it has to. Local.
  [[nodiscard]] std::optional<int> log_late(MPI_Comm name, MPI_Comm now, const SenderLog::Late& message);

 private:
  struct Communicator {
    std::uint64_t comm_id = 0;
    CommSlots slots;
  };

  void begin_logging(const LogOptions& options);
  [[nodiscard]] Flow look_up_flow(const Partner& partner, MPI_Comm now);
  void write_many_determinants();

  const Process& process_;
  Turns& turns_;
  RankJournals& journals_;
  MessageLog& log_;
  std::map<MPI_Comm, Communicator> comms_;
  RecentPartners<Flow> known_flows_;
  SpillOptions spill_;
};

}  // namespace fenix_impl
