// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/groups/group_registry.hpp"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"
#include "core/common/meeting.hpp"
#include "rma/mpi_team.hpp"

namespace fenix_impl {

namespace {

const GroupParameters kWorld{FENIX_DATA_GROUP_WORLD_ID, 0, 0, {Policy::Kind::ring, Policy::kChosen}};

/// A group that a rank of the resilient communicator has deleted.
struct DeletedGroup {
  std::int32_t id;
  std::int32_t rank;

  auto operator<=>(const DeletedGroup&) const = default;
};

// A group that has never had a team has nothing: its members are made with the team.
bool is_formed(const Group& group) { return group.ranks().size > 0; }

}  // namespace

void GroupRegistry::know_world() {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Group>& world = groups_[kWorld.id];
  if (!world) world = std::make_unique<Group>(kWorld);
}

bool GroupRegistry::uses_world() const {
  const Group* world = find(kWorld.id);
  return world != nullptr && is_formed(*world);
}

void GroupRegistry::form_world() {
  (void)create(kWorld, process_.comms().resilient(), [] {});
}

Group* GroupRegistry::find(int group_id) const {
  const std::lock_guard lock(mutex_);
  const auto found = groups_.find(group_id);
  return found == groups_.end() ? nullptr : found->second.get();
}

bool GroupRegistry::has(int group_id) const {
  const Group* found = find(group_id);
  return found != nullptr && !found->is_deleted();
}

Group& GroupRegistry::at(int group_id) const {
  Group* found = find(group_id);
  if (found == nullptr || found->is_deleted()) {
    throw Error(FENIX_ERROR_INVALID_GROUPID, "group_id " + std::to_string(group_id) + " does not exist on this rank");
  }
  return *found;
}

Group& GroupRegistry::attached(int group_id) const {
  Group& found = at(group_id);
  if (!found.attached() && (group_id != kWorld.id || is_formed(found))) {
    // An operation that succeeded in spite of a death leaves the report to this one.
    found.attachment().look_for_failures();
    throw Error(FENIX_ERROR_INVALID_LOGIC_CALL,
                "group_id " + std::to_string(group_id) + " has to be created again, after a repair or a time-out");
  }
  return found;
}

const std::vector<int>& GroupRegistry::ranks_of(int group_id) const {
  const std::lock_guard lock(mutex_);
  return ranks_.at(group_id);
}

void GroupRegistry::clear() {
  groups_.clear();
  ranks_.clear();
}

RejoinResult GroupRegistry::create(const GroupParameters& parameters, MPI_Comm comm,
                                   const std::function<void()>& check_arguments) {
  TeamFactory::NewTeam made = teams_.make(comm);
  const RejoinResult result = together(*made.team, [&] {
    give_back_deleted(*made.team, made.ranks);
    return create(parameters, made.team, check_arguments);
  });
  const std::lock_guard lock(mutex_);
  ranks_[parameters.id] = std::move(made.ranks);
  return result;
}

RejoinResult GroupRegistry::create(const GroupParameters& parameters, const std::shared_ptr<MpiTeam>& team,
                                   const std::function<void()>& check_arguments) {
  std::unique_lock lock(mutex_);
  std::unique_ptr<Group>& group = groups_[parameters.id];
  lock.unlock();
  const bool known_before = group != nullptr && is_formed(*group);
  try {
    if (!known_before) group = storage_.lease().find(parameters.id, *team);
    RejoinResult result = rejoin(group, {parameters, check_arguments, team, teams_.choose_path(*team),
                                         storage_.start().for_rejoin(parameters.id, *team), highest_});
    storage_.job().adopt_run(result.run);
    const GroupStart::Resumed resumed = storage_.start().reattach(*group, result);
    highest_ = std::max(highest_, group->log().generation());
    result.resumed = resumed == GroupStart::Resumed::yes;
    result.snapshots_lost = result.snapshots_lost || resumed == GroupStart::Resumed::unusable;
    return result;
  } catch (const Error& error) {
    // A group that could not be formed leaves nothing behind; an existing one waits to be taken up again.
    if (!known_before && dynamic_cast<const MpiError*>(&error) == nullptr) group.reset();
    keep_only_complete(parameters.id);
    throw;
  } catch (...) {
    // After a failure, the part of the group on this rank may be the only copy there is.
    keep_only_complete(parameters.id);
    throw;
  }
}

void GroupRegistry::keep_only_complete(int group_id) {
  const std::lock_guard lock(mutex_);
  const auto found = groups_.find(group_id);
  if (found == groups_.end()) return;
  if (!found->second || !found->second->is_complete()) {
    groups_.erase(found);
  } else {
    found->second->detach();
  }
}

void GroupRegistry::remove(int group_id) {
  Group& found = at(group_id);
  if (group_id == FENIX_DATA_GROUP_WORLD_ID) {
    throw Error(FENIX_ERROR_INVALID_GROUPID, "group_id is FENIX_DATA_GROUP_WORLD_ID, which cannot be deleted");
  }
  storage_.forget(group_id, found.log().generation().value);
  highest_ = std::max(highest_, found.log().generation());
  if (found.attached()) {
    found.mark_deleted();
  } else {
    erase(group_id);
  }
}

// None where threads of the program may call: another one may be in Fenix_Data_barrier of such a group.
std::vector<int> GroupRegistry::deleted_groups() const {
  std::vector<int> ids;
  int level = MPI_THREAD_MULTIPLE;
  MPI_Query_thread(&level);
  if (level == MPI_THREAD_MULTIPLE) return ids;
  const std::lock_guard lock(mutex_);
  for (const auto& [id, group] : groups_) {
    if (group && group->is_deleted() && group->attached()) ids.push_back(id);
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

// A program may give each group a new number, and never call a barrier for those that it has deleted. ranks: of the team.
void GroupRegistry::give_back_deleted(Team& team, const std::vector<int>& ranks) {
  constexpr std::size_t kFew = 8;  // the program may still mean to call the barrier
  const std::vector<int> ids = deleted_groups();
  const std::uint8_t many = ids.size() > kFew ? 1 : 0;
  if (team.reduce(many, [](std::uint8_t& into, std::uint8_t from) { into |= from; }) == 0) return;
  std::vector<DeletedGroup> mine;
  for (const int id : ids) mine.push_back({id, ranks.at(static_cast<std::size_t>(team.rank()))});
  const std::vector<DeletedGroup> all = team.gather_some(std::span<const DeletedGroup>(mine));
  for (const int id : ids) {
    const std::vector<int>& its = ranks_of(id);
    // All ranks of the group are here, and have it as this one has: all of them come to this.
    const bool is_ready = std::all_of(its.begin(), its.end(), [&](int rank) {
      return std::binary_search(all.begin(), all.end(), DeletedGroup{id, rank});
    });
    if (is_ready) give_back(id);
  }
}

// The caller has not asked for this: an error is none of the group that it creates.
void GroupRegistry::give_back(int group_id) {
  try {
    if (!find(group_id)->make_consistent()) erase(group_id);
  } catch (const MpiError&) {
    throw;
  } catch (const Error& error) {
    log().info("group {}: it is deleted, and cannot be given back: {}", group_id, error.what());
  }
}

void GroupRegistry::erase(int group_id) {
  const std::lock_guard lock(mutex_);
  groups_.erase(group_id);
  ranks_.erase(group_id);
}

bool GroupRegistry::has_pending_commits() const {
  const std::lock_guard lock(mutex_);
  return std::any_of(groups_.begin(), groups_.end(),
                     [](const auto& group) { return group.second && group.second->recovery().has_pending_commit(); });
}

void GroupRegistry::settle_commits(Team& team) {
  std::vector<GroupRecovery> formed;
  std::unique_lock lock(mutex_);
  for (const auto& [id, group] : groups_) {
    if (group && is_formed(*group)) formed.push_back(group->recovery());
  }
  lock.unlock();
  GroupRecovery::settle(team, formed);
}

void GroupRegistry::keep_buffers() {
  const std::lock_guard lock(mutex_);
  for (const auto& [id, group] : groups_) {
    if (group) group->recovery().keep_buffers();
  }
}

void GroupRegistry::detach_all() {
  const std::lock_guard lock(mutex_);
  for (auto group = groups_.begin(); group != groups_.end();) {
    // A deleted group has only waited for its peers to hear of it.
    if (group->second && group->second->is_deleted()) {
      ranks_.erase(group->first);
      group = groups_.erase(group);
      continue;
    }
    if (group->second) group->second->detach();
    ++group;
  }
}

}  // namespace fenix_impl
