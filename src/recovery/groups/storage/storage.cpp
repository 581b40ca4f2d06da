// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/groups/storage/storage.hpp"

#include <algorithm>
#include <chrono>
#include <exception>

#include "base/deadline.hpp"
#include "base/log.hpp"
#include "core/common/meeting.hpp"

namespace fenix_impl {

void Storage::begin() {
  clear();
  job_.begin();
  planner_.begin();
  flushing_.begin(job_.keeper_if_any(), job_.patience());
}

// Nodes may go with the end of the job.
void Storage::finish(bool is_first) noexcept {
  const Deadline deadline(std::chrono::seconds(job_.settings().seconds));
  try {
    // All ranks have agreed to finish: none of them offers anything more.
    for (auto& [id, mine] : groups_.all()) flushing_.wait_at_end(id, mine.flushes, deadline);
    if (job_.is_on() && job_.keeps_memory()) job_.keeper().memory().forget(job_.run());
    // The program has not come to its end if this job has only written what was left of another one.
    const bool has_ended = job_.is_on() && !job_.only_reads() && is_first && !job_.drains();
    if (has_ended) {
      constexpr std::chrono::milliseconds kLeast{1000};
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline.left());
      job_.keeper().runs().finish(job_.run(), std::max(left, kLeast), [] {});
    }
  } catch (const std::exception& error) {
    log().warn("the store: {}", error.what());
  }
  clear();
}

void Storage::clear() {
  groups_.all().clear();
  lease_.clear();
  flushing_.clear();
  listed_.clear();
  job_.clear();
  planner_.clear();
}

void Storage::forget(int group_id, std::uint32_t generation) {
  groups_.erase(group_id);
  lease_.forget(group_id, generation);
}

Epoch Storage::agree(Group& group, const SnapshotChoice& choice, const std::string& label, const Check& check) {
  return together(group.attachment().team(), [&] {
    return Flushing::agree(group, choice, label, [&] {
      check();
      job_.require_writing();
    });
  });
}

void Storage::flush(Group& group, const SnapshotChoice& choice, const std::string& label, const Check& check) {
  const Epoch epoch = agree(group, choice, label, check);
  flushing_.flush(group, groups_.of(group).flushes, job_.run(), epoch, label);
}

std::uint64_t Storage::begin_flush(Group& group, const SnapshotChoice& choice, const std::string& label,
                                   const Check& check) {
  const Epoch epoch = agree(group, choice, label, check);
  return flushing_.begin_flush(group, groups_.of(group).flushes, job_.run(), epoch, label);
}

Flushing::Progress Storage::progress(Group& group, int time_stamp) {
  return flushing_.progress(groups_.of(group).flushes, time_stamp);
}

void Storage::set_every(Group& group, int every) { groups_.of(group).every = every; }

// All ranks come here after the same commits, so they flush the same snapshots. One that is slow holds the others back, for a while.
void Storage::after_commit(Group& group) noexcept {
  if (!job_.is_on() && !planner_.plans_commits()) return;
  StorageGroup* const mine = groups_.find(group);
  if (mine == nullptr) return;
  planner_.note_commit(*mine);
  if (!job_.is_on()) return;
  try {
    offer_commit(group, *mine);
  } catch (const std::exception& error) {
    // The commit stands. A failure is reported by the next call. A keeper that does not read must not delay each commit.
    mine->quiet_until = std::chrono::steady_clock::now() + std::chrono::seconds(job_.settings().seconds);
    log().warn("group {}: a snapshot is not flushed: {}", group.parameters().id, error.what());
  }
}

void Storage::offer_commit(Group& group, StorageGroup& mine) {
  job_.keeper().connection().look();
  lease_.warn_of_refusal();
  if (mine.begun_with) {
    job_.keeper().datasets().note_taken(*mine.begun_with);
    mine.begun_with.reset();
  }
  if (std::chrono::steady_clock::now() < mine.quiet_until) return;
  if (job_.keeps_memory()) lease_.keep_commit(group, flushing_, mine.flushes);
  // By the number of the commit, which is the same on ranks that have taken the places of dead ones.
  const bool is_flushed =
      mine.every != 0 && !job_.only_reads() && group.log().last().value % static_cast<std::uint64_t>(mine.every) == 0;
  if (is_flushed) flushing_.flush_latest(group, mine.flushes, job_.run());
}

}  // namespace fenix_impl
