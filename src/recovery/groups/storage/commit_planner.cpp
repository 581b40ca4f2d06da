// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/groups/storage/commit_planner.hpp"

namespace fenix_impl {

void CommitPlanner::begin() {
  const CommitSettings commits = CommitSettings::from_environment();
  plans_commits_ = commits.every > 0 || commits.has_times();
  halting_ = Halting(store_.settings(), store_.keeper_if_any());
}

void CommitPlanner::clear() {
  halting_ = {};
  commits_ = 0;
}

// Ranks that take the places of dead ones begin to count anew, so all do.
void CommitPlanner::begin_anew(const Group& group) {
  groups_.of(group).schedule = {};
  if (group.parameters().id == FENIX_DATA_GROUP_WORLD_ID) halting_.begin_anew();
}

void CommitPlanner::note_commit(StorageGroup& group) {
  ++commits_;
  group.schedule.note_commit();
}

bool CommitPlanner::needs_commit(Group& group, const Check& check) {
  StorageGroup& mine = groups_.of(group);
  const bool is_flushing = mine.flushes.automatic != 0 && !flushing_.outcome(mine.flushes.automatic);
  const bool is_due = mine.schedule.is_due(group.attachment().team(), is_flushing, check);
  return is_due || halting_.is_halting();
}

bool CommitPlanner::needs_commit_here(Group& group) {
  return groups_.of(group).schedule.is_due_here() || halting_.is_halting();
}

CommitSchedule* CommitPlanner::measured_schedule(const Group& group) {
  if (!plans_commits_) return nullptr;
  StorageGroup* const mine = groups_.find(group);
  return mine != nullptr && mine->schedule.measures() ? &mine->schedule : nullptr;
}

bool CommitPlanner::should_halt(Group& world, const Check& check) {
  return halting_.is_due(world.attachment().team(), store_.run(), commits_, check);
}

void CommitPlanner::halt(const std::string& reason) {
  HaltConditions conditions;
  KeeperClient& keeper = store_.keeper();
  conditions.run = store_.run();
  conditions.at = 0;
  conditions.reason = reason;
  keeper.runs().halt(conditions, [] {});
}

}  // namespace fenix_impl
