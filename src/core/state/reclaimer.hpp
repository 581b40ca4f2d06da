// SPDX-License-Identifier: BSD-3-Clause
// Space that can be used again: log and slots of snapshots that all ranks have gone beyond. Asks and waits for other ranks.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/deadline.hpp"
#include "core/log/commit_log.hpp"
#include "core/member/member.hpp"
#include "core/state/archive.hpp"
#include "core/state/attachment.hpp"
#include "core/state/stored_archive.hpp"

namespace fenix_impl {

/// Slots that a keeper reads: they are used anew when it has ended, or when a store has waited for it long enough.
struct FlushHold {
  std::vector<std::pair<std::int32_t, std::uint32_t>> slots;  ///< with the ids of their members
  std::function<bool()> is_pending;
  std::chrono::milliseconds patience{0};
  std::optional<Deadline> deadline;  ///< since the first wait
};

class Reclaimer {
 public:
  /// All must outlive it.
  Reclaimer(const GroupParameters& parameters, CommitLog& log, const Attachment& attachment,
            std::unique_ptr<Archive>& archive, std::unique_ptr<StoredArchive>& stored)
      : parameters_(parameters), log_(log), attachment_(attachment), archive_(archive), stored_(stored) {}
  Reclaimer(const Reclaimer&) = delete;
  Reclaimer& operator=(const Reclaimer&) = delete;

  /// Forgets what no rank needs any more: old records, and the archive once the team has a snapshot of its own. Local.
  void forget_old() {
    const bool newer = log_.forget_old();
    // The new communicator has data of its own.
    if (newer && archive_) archive_.reset();
    if (newer && stored_) stored_.reset();
  }
  /// Finds out what all ranks have committed as of now, as far as that can be found out. Local.
  void find_commits();
  /// Returns when ready() is true. Throws as Team::check and Deadline::check do.
  void wait_for_others(const char* waited_for, const std::function<bool()>& ready);
  /// Returns a slot of the member that no snapshot needs, if there is one. Local.
  std::optional<std::uint32_t> free_slot_for(const Member& member);
  /// Keeps slots from being used anew as long as a keeper reads them.
  void hold(FlushHold hold) {
    std::erase_if(holds_, [](const FlushHold& each) { return !each.is_pending(); });
    holds_.push_back(std::move(hold));
  }
  /// Returns when no slot is held. Local, except that it throws as Team::check does.
  void wait_for_flush();
  /// Takes a slot for the snapshot under construction, unless there is one already. Waits for a free one, except if all snapshots
  /// are kept: then there may be none, and the result is false.
  bool take_slot(const MemberAccess& access);

 private:
  void ask_others(int most_reads);
  void try_to_ask(int most_reads);
  /// Whether slots are still held. Local.
  bool is_holding();

  const GroupParameters& parameters_;
  CommitLog& log_;
  const Attachment& attachment_;
  std::unique_ptr<Archive>& archive_;
  std::unique_ptr<StoredArchive>& stored_;
  std::vector<std::uint32_t> used_;  // memory to use again
  std::vector<FlushHold> holds_;
};

}  // namespace fenix_impl
