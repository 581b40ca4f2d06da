// SPDX-License-Identifier: BSD-3-Clause
// Replay: receives get the messages that their senders have logged, and that this rank or its predecessor has not got.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "messages/log/log_writer.hpp"
#include "messages/log/logged_message.hpp"
#include "messages/log/peer_logs.hpp"
#include "messages/log/spills_of_others.hpp"

namespace fenix_impl {

class Replay {
 public:
  /// A receive that has begun.
  struct Begun {
    std::uint64_t number = 0;  ///< of its message
    bool is_logged = false;    ///< it has to be read from the log of its sender
  };

  /// They must outlive it.
  Replay(FlowNumbers& flows, DeterminantLog& determinants, const PeerLogs& peers, LogWriter& writer)
      : flows_(flows), determinants_(determinants), peers_(peers), writer_(writer) {}

  /// Says what libfenix_mpi may do by itself with messages of a flow: nothing if the next one is in a log. Local.
  [[nodiscard]] FastReceive allow_receive(const Flow& flow);
  /// Returns the message that a receive gets. Receives of a flow get their messages in the order of these calls. Local.
  [[nodiscard]] Begun begin_receive(const Flow& flow);
  /// Returns the message of a flow with this number if it has to be read from the log of its sender. anew: not where it was before, as
  /// its sender may have moved it. Local, throws PeerFailure.
  [[nodiscard]] std::optional<LoggedMessage> logged(const LogJournals& journals, const Flow& flow, std::uint64_t number,
                                                    bool anew);
  /// Returns the oldest message that has to be read from a log, and that no receive has got. peer, tag: nothing for any one; messages of the
  /// library itself are no answer then. Of several peers, the first one that has a message. Local, throws PeerFailure.
  [[nodiscard]] std::optional<std::pair<Flow, LoggedMessage>> find_unreceived(const LogJournals& journals,
                                                                              std::uint64_t comm_id,
                                                                              std::optional<int> peer,
                                                                              std::optional<int> tag);
  /// Whether logs have messages for this process that no receive has got. Local.
  [[nodiscard]] bool has_unreceived() const;
  /// Tells the sender of a synchronous message that was taken from its log. Local. Throws as JournalWriter::append does.
  void note_taken(const LogJournals& journals, const Flow& flow, const EntryHead& taken);
  /// Forgets which synchronous messages were taken: all ranks go back. Local. Throws as JournalWriter::append does.
  static void forget_taken(const LogJournals& journals);

  /// Returns the files in which the logs of other ranks go on.
  [[nodiscard]] SpillsOfOthers& spills() { return spills_; }
  /// Forgets where messages were found: there has been a repair. Local.
  void forget_found() { found_.clear(); }
  /// Has copies made of files with messages for this rank that it does not see. give: what this rank has for others. Returns false if they
  /// could not be made. Collective. Throws as Team does.
  [[nodiscard]] bool fetch(Team& team, const SpillsOfOthers::Give& give);
  /// Forgets all. Local.
  void clear();

 private:
  [[nodiscard]] std::set<int> senders_of_unreceived() const;

  FlowNumbers& flows_;
  DeterminantLog& determinants_;
  const PeerLogs& peers_;
  LogWriter& writer_;
  std::map<Flow, std::vector<LoggedMessage>> found_;  // in logs of others
  SpillsOfOthers spills_;
};

}  // namespace fenix_impl
