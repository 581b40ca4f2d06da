// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/groups/rejoin/snapshot_recovery.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "base/fault.hpp"
#include "base/log.hpp"

namespace fenix_impl {
namespace {

/// A record that a rank keeps for another one. Sent to other ranks.
struct HeldRecord {
  std::int32_t copy = 0;  ///< its number
  std::int32_t reserved = 0;
  CommittedEpoch record;
};

}  // namespace

ConsistentEpochs SnapshotRecovery::run(LossReport& report) {
  if (group_.is_complete()) group_.recovery().drop_overwritten();
  const CommonEpochs all = common_to_all(team_, CommonEpochs(find_commits()));
  // Without redundancy, the others go on without what a dead rank had.
  const bool redundant = group_.parameters().policy.has_redundancy();
  const bool enough =
      group_.ranks().placement.suffices_without(clues_.replacements.missing()) && !(all.some_unknown() && redundant);
  auto result = enough ? all.consistent() : ConsistentEpochs{};
  const bool all_had_some = all.some_unknown() || !all.some_had_none();
  const bool had_common = (clues_.moved ? clues_.had_some : all_had_some) || !clues_.all.known_on_all.none();
  const bool had_any = clues_.all.has(RankSummary::kHasSnapshots);
  report.note(group_, result.newest.none() && had_any && !clues_.archived && had_common);
  warn_of_older(result);
  const bool some_left = !result.epochs.empty();
  make_own(result, redundant);
  rebuild_held(result);
  // From here on this rank is as good as one that survived, whatever happens to the others.
  if (!group_.is_complete()) {
    group_.recovery().note_complete();
    fault_point("rejoin.rebuilt");
  }
  report.note(group_, some_left && result.epochs.empty());
  return result;
}

void SnapshotRecovery::warn_of_older(const ConsistentEpochs& result) const {
  if (result.newest.none() || result.newest >= clues_.all.known_on_all) return;
  log().log(warning_of_all(team_.rank()), "group {}: the latest snapshot is lost, going back to time stamp {}",
            group_.parameters().id, group_.parameters().time_stamp_of(result.newest));
}

// Brings this rank's own part of the snapshots into order.
void SnapshotRecovery::make_own(const ConsistentEpochs& result, bool redundant) {
  const bool some_left = !result.epochs.empty();
  GroupRecovery recovery = group_.recovery();
  if (has_adopted()) drop_torn();
  // Where several have adopted memory, nobody may read a record that its owner is about to drop.
  const bool some_drop = group_.parameters().commits_in_place() && clues_.replacements.several_have_adopted();
  if (goes_on_with_kept() || some_drop) team_.barrier();
  if (group_.is_complete() || has_adopted()) {
    // Ranks that die before all is rebuilt may take the only copy of a record with them: older snapshots stay until then.
    recovery.keep_only(result.epochs, some_left ? result.epochs.front() : Epoch{});
    fault_point("rejoin.voided");
    if (has_adopted()) {
      complete_adopted(result);
      const auto left = group_.log().memory().own_epochs();
      // Without redundancy, nothing brings back a copy that was half overwritten. If all have died, the store may have another one.
      if (!redundant && some_left && left.empty() && !goes_on_with_kept()) recovery.accept_loss();
    }
  } else if (!redundant && some_left) {
    recovery.accept_loss();
  }
  if (redundant && some_left) rebuild_own(result);
}

// Makes what ranks that have nothing lack of the snapshots. Collective.
void SnapshotRecovery::rebuild_own(const ConsistentEpochs& result) {
  const std::set<int>& missing = clues_.replacements.missing();
  const bool lacks_all = missing.count(self_) != 0;
  std::vector<CommitLog::RecordCopy> lacking;
  if (lacks_all) {
    std::copy_if(copies_.begin(), copies_.end(), std::back_inserter(lacking),
                 [&](const CommitLog::RecordCopy& each) { return contains(result.epochs, each.epoch); });
  }
  const auto there = group_.recovery().shared_rebuild(missing).run(lacking);
  if (lacks_all) (void)group_.recovery().rebuild().rebuild_own(lacking, missing, there);
}

// Returns what this rank has committed, of which others have copies if it has lost its own records.
CommittedEpochs SnapshotRecovery::find_commits() {
  const Placement& placement = group_.ranks().placement;
  const CommitLog& log = group_.log();
  const auto own = log.memory().own_epochs();
  std::vector<HeldRecord> mine;
  for (int copy = 0; copy < placement.copies(); ++copy) {
    for (const CommittedEpoch& each : log.memory().held_epochs(copy)) mine.push_back({copy, 0, each});
  }
  const auto theirs = team_.ask(group_.ranks().partners(), std::span<const HeldRecord>(mine));
  const std::set<int>& missing = clues_.replacements.missing();
  // In the memory of a dead rank the last record may be without its seal, and nobody has looked for damage: the copies of its
  // records on other ranks count as well.
  const bool knows = missing.count(self_) == 0 && !clues_.moved;
  if (knows && !has_adopted() && !log.has_lost_data()) return own;
  CommittedEpochs epochs;
  for (int copy = 0; copy < placement.copies() && !clues_.moved; ++copy) {
    const int holder = placement.holder(self_, copy);
    if (missing.count(holder) != 0) continue;
    std::vector<CommittedEpoch> held;
    for (const HeldRecord& each : theirs.at(holder)) {
      if (each.copy == copy) held.push_back(each.record);
    }
    add(epochs, held);
    note_copies(copy, held);
  }
  if (has_adopted()) add(epochs, own);
  return epochs;
}

// Notes where the records of this rank can be had: of each epoch, one copy.
void SnapshotRecovery::note_copies(int copy, const std::vector<CommittedEpoch>& held) {
  for (const CommittedEpoch& each : held) {
    const bool known = std::any_of(copies_.begin(), copies_.end(),
                                   [&](const CommitLog::RecordCopy& other) { return other.epoch == each.epoch; });
    if (!known && each.deleted == 0) copies_.push_back({each.epoch, each.entry, copy});
  }
}

// In place, the dead rank may have overwritten its own copies in part, or not at all.
void SnapshotRecovery::drop_torn() {
  if (!group_.parameters().commits_in_place()) return;
  const RecordLog& log = group_.log().memory().control().own_log;
  for (const LoggedRecord& logged : log.read_all()) {
    const auto& members = group_.members();
    const bool whole = std::all_of(members.begin(), members.end(), [&](const auto& member) {
      const MemberVersion* version = version_in(logged.record, *member);
      return version == nullptr || member->memory.own_is(version->stored_in);
    });
    if (!whole) log.clear(logged.entry);
  }
}

// Rebuilds what the memory that was taken over lacks.
void SnapshotRecovery::complete_adopted(const ConsistentEpochs& result) {
  auto missing = clues_.replacements.missing();
  missing.insert(self_);
  const auto there = group_.log().memory().own_epochs();
  std::erase_if(copies_, [&](const CommitLog::RecordCopy& each) {
    return !contains(result.epochs, each.epoch) ||
           std::any_of(there.begin(), there.end(), [&](const auto& own) { return own.epoch == each.epoch; });
  });
  if (!copies_.empty()) (void)group_.recovery().rebuild().rebuild_own(copies_, missing);
}

// Rebuilds the copies and parity held for others from what each owner has now. Keeps in result only epochs that are complete
// everywhere.
void SnapshotRecovery::rebuild_held(ConsistentEpochs& result) {
  const Placement& placement = group_.ranks().placement;
  const auto own = group_.log().memory().own_epochs();
  auto theirs = team_.ask(group_.ranks().partners(), std::span<const CommittedEpoch>(own));
  std::vector<CommittedEpochs> at_owners;
  for (int copy = 0; copy < placement.copies(); ++copy) {
    at_owners.emplace_back(theirs.at(placement.kept(self_, copy)));
  }
  const auto whole = group_.recovery().rebuild().rebuild_held(result.epochs, at_owners);
  std::vector<CommittedEpoch> mine;
  const bool nothing_to_have = group_.log().has_lost_data();
  for (const Epoch epoch : whole) {
    const bool has_own =
        std::any_of(own.begin(), own.end(), [&](const CommittedEpoch& each) { return each.epoch == epoch; });
    if (has_own || nothing_to_have) mine.push_back({epoch, {}, 0, 0});
  }
  result.epochs = common_to_all(team_, CommonEpochs(std::move(mine))).consistent().epochs;
}

}  // namespace fenix_impl
