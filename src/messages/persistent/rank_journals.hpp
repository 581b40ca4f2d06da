// SPDX-License-Identifier: BSD-3-Clause
// The journals of this rank: how they begin, and are attached again after a repair.
#pragma once

#include <memory>
#include <optional>

#include "messages/journal/journal.hpp"
#include "messages/log/log_journals.hpp"
#include "messages/persistent/persist_options.hpp"
#include "recovery/process/process.hpp"
#include "recovery/process/team_factory.hpp"

namespace fenix_impl {

class RankJournals {
 public:
  /// Both must outlive it.
  RankJournals(Process& process, TeamFactory& teams) : process_(process), teams_(teams) {}

  /// Whether this process has a journal, or gets one in the next repair. Local.
  [[nodiscard]] bool in_use() const { return held_ != nullptr || awaited_; }
  /// Makes a journal. Collective over the resilient communicator, as the next one. Throw as Team does.
  void form(const PersistOptions& options);
  /// Makes one of their own for logged messages.
  void form_messages(const LogOptions& options);
  /// Has the next repair make them. Local.
  void await(const LogOptions& options);
  /// Detaches from the team. Local.
  void detach();
  /// Attaches them to a new team, or makes those that are awaited. has_failed: this process has the place of a dead one. Collective over the
  /// team. Throws as Team does.
  void reattach(const TeamFactory::NewTeam& made, bool has_failed);
  /// Ends the use. Local.
  void clear();

  /// Throws Error if messages cannot be stored and read, and PeerFailure if they can after a repair. Local.
  void require() const;
  [[nodiscard]] bool exist() const { return held_ != nullptr; }
  [[nodiscard]] bool has_own_messages() const { return messages_ != nullptr; }
  /// Whether no other rank has copies of logged messages. Local.
  [[nodiscard]] bool have_messages_alone() const { return messages_ && messages_->parameters().copies == 0; }
  /// Returns the journal of what other ranks hold. It has to exist, here and below.
  [[nodiscard]] Journal& held() const { return *held_; }
  [[nodiscard]] LogJournals of_log() const { return messages_ ? LogJournals{*held_, *messages_} : *held_; }
  /// Returns the team to which they are attached.
  [[nodiscard]] Team& team() const { return *team_.team; }

 private:
  void reattach_one(const TeamFactory::NewTeam& made, std::unique_ptr<Journal>& journal,
                    const JournalParameters& awaited, bool has_failed);
  void attach(Journal& journal, const TeamFactory::NewTeam& made);
  [[nodiscard]] int own_slot(const Team& team) const;

  Process& process_;
  TeamFactory& teams_;
  TeamFactory::NewTeam team_;  // of the journals that are attached, which refer to it
  std::unique_ptr<Journal> held_;
  std::unique_ptr<Journal> messages_;  // logged messages, if they have one of their own
  std::optional<LogOptions> awaited_;  // for journals that the next repair makes
  int awaited_since_ = 0;              // so many repairs there had been
};

}  // namespace fenix_impl
