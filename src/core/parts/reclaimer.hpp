// SPDX-License-Identifier: BSD-3-Clause
// Space that can be used again: log and slots of snapshots that all ranks have gone beyond. Asks and waits for other ranks.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/log/commit_log.hpp"
#include "core/member/member.hpp"
#include "core/parts/archive.hpp"
#include "core/parts/attachment.hpp"

namespace fenix_impl {

class Reclaimer {
 public:
  /// All must outlive it.
  Reclaimer(const GroupParameters& parameters, CommitLog& log, const Attachment& attachment,
            std::unique_ptr<Archive>& archive)
      : parameters_(parameters), log_(log), attachment_(attachment), archive_(archive) {}
  Reclaimer(const Reclaimer&) = delete;
  Reclaimer& operator=(const Reclaimer&) = delete;

  /// Forgets what no rank needs any more: old records, and the archive once the team has a snapshot of its own. Local.
  void forget_old() {
    const bool newer = log_.forget_old();
    // The new communicator has data of its own.
    if (newer && archive_) archive_.reset();
  }
  /// Finds out what all ranks have committed as of now, as far as that can be found out. Local.
  void find_commits();
  /// Returns when ready() is true. Throws as Team::check and Deadline::check do.
  void wait_for_others(const char* waited_for, const std::function<bool()>& ready);
  /// Returns a slot of the member that no snapshot needs, if there is one. Local.
  std::optional<std::uint32_t> free_slot_for(const Member& member);
  /// Takes a slot for the snapshot under construction, unless there is one already. Waits for a free one, except if all snapshots
  /// are kept: then there may be none, and the result is false.
  bool take_slot(const MemberAccess& access);

 private:
  void ask_others(int most_reads);

  const GroupParameters& parameters_;
  CommitLog& log_;
  const Attachment& attachment_;
  std::unique_ptr<Archive>& archive_;
  std::vector<std::uint32_t> used_;  // memory to use again
};

}  // namespace fenix_impl
