// SPDX-License-Identifier: BSD-3-Clause
// Messages of this rank that outlive it: those on persistent communicators, and those that are logged. They share its journals.
#pragma once

#include <functional>
#include <span>

#include "messages/log/message_log.hpp"
#include "messages/persistent/log_checkpoints.hpp"
#include "messages/persistent/logged_comms.hpp"
#include "messages/persistent/persistent_comms.hpp"
#include "messages/persistent/rank_journals.hpp"
#include "messages/persistent/turns.hpp"

namespace fenix_impl {

/// The parts, and what becomes of them in repairs.
class Persistence {
 public:
  /// Both must outlive it.
  Persistence(Process& process, TeamFactory& teams)
      : process_(process),
        teams_(teams),
        comms_(process, turns_, journals_, log_),
        logged_(process, turns_, journals_, log_),
        checkpoints_(turns_, journals_, log_),
        journals_(process, teams) {}

  [[nodiscard]] PersistentComms& comms() { return comms_; }
  [[nodiscard]] LoggedComms& logged() { return logged_; }
  [[nodiscard]] LogCheckpoints& checkpoints() { return checkpoints_; }
  [[nodiscard]] const RankJournals& journals() const { return journals_; }

  /// Says whether several threads of the program may call at once. At the start. Local.
  void expect_threads(bool are_many) { turns_.expect_threads(are_many); }
  /// Detaches from the team, as a repair has begun. starts_over: survivors will call MPI_Comm_persist again. Local.
  void detach(bool starts_over);
  /// Notes whether survivors will call MPI_Comm_persist again. Local.
  void note_start_over(bool starts_over);
  /// Attaches the journals to the new team, or gives new processes theirs. falls_back: all ranks go back to a state that they have stored. If this
  /// turns out now, fall_back is called on all, with the reason. Collective over the active ranks, if one of them has a journal. Throws as Team does.
  void reattach(bool falls_back, const std::function<void(const char* why)>& fall_back);
  /// Whether the log lacks messages, as there was no room. Local.
  [[nodiscard]] bool lacks_messages() const { return log_.gaps().lack_messages(); }
  /// Ends the use. Local.
  void clear();

  /// Whether a message cannot be replaced while it is read: this process has stored it, and only one thread calls at a time. Local.
  [[nodiscard]] bool stays(const StoredMessage& message);
  /// Reads a message. Returns false if it has been replaced meanwhile, or is damaged in all places. Local.
  [[nodiscard]] bool read(const StoredMessage& message, std::span<std::byte> to);

 private:
  Process& process_;
  TeamFactory& teams_;
  Turns turns_;
  PersistentComms comms_;
  LoggedComms logged_;
  LogCheckpoints checkpoints_;
  MessageLog log_;
  RankJournals journals_;
  bool starts_over_ = false;  // survivors, after the repair that is under way
};

}  // namespace fenix_impl
