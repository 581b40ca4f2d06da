// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/runtime.hpp"

#include <algorithm>
#include <numeric>

#include "core/common/meeting.hpp"

namespace fenix_impl {
namespace {

thread_local SimulatedRuntime* of_thread = nullptr;
thread_local Group* working = nullptr;

}  // namespace

SimulatedRuntime& simulated_runtime() { return *of_thread; }
void set_simulated_runtime(SimulatedRuntime* of_this_thread) { of_thread = of_this_thread; }

// -------------------------------------------------------------------------------------------------------------- groups

Group* SimulatedGroups::find(int id) const {
  const auto found = groups_.find(id);
  return found == groups_.end() ? nullptr : found->second.get();
}

Group& SimulatedGroups::at(int id) const {
  Group* found = find(id);
  if (found == nullptr || found->is_deleted()) throw Error(FENIX_ERROR_INVALID_GROUPID, "group_id does not exist");
  return *found;
}

Group& SimulatedGroups::attached(int id) const {
  Group& found = at(id);
  if (found.attached()) return found;
  found.attachment().look_for_failures();
  throw Error(FENIX_ERROR_INVALID_LOGIC_CALL, "group_id has to be created again");
}

// As GroupRegistry::create does.
RejoinResult SimulatedGroups::create(const GroupParameters& parameters, MPI_Comm, const std::function<void()>& check) {
  std::unique_ptr<Group>& group = groups_[parameters.id];
  const bool known_before = group != nullptr;
  try {
    return together(*team, [&] { return rejoin(group, {parameters, check, team, make_path, {}, highest_}); });
  } catch (const PeerFailure&) {
    if (!group || !group->is_complete()) {
      erase(parameters.id);
    } else {
      group->detach();
    }
    throw;
  } catch (...) {
    if (!known_before || !group || !group->is_complete()) {
      erase(parameters.id);
    } else {
      group->detach();
    }
    throw;
  }
}

void SimulatedGroups::remove(int id) {
  Group& found = at(id);
  highest_ = std::max(highest_, found.log().generation());
  if (found.attached()) {
    found.mark_deleted();
  } else {
    erase(id);
  }
}

std::vector<int> SimulatedGroups::numbers() const {
  std::vector<int> numbers(static_cast<std::size_t>(team->size()));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

void SimulatedGroups::detach_all() {
  for (auto each = groups_.begin(); each != groups_.end();) {
    if (!each->second || each->second->is_deleted()) {
      each = groups_.erase(each);
    } else {
      (each++)->second->detach();
    }
  }
}

std::vector<GroupRecovery> SimulatedGroups::formed() const {
  std::vector<GroupRecovery> formed;
  for (const auto& [id, group] : groups_) {
    if (group && group->ranks().size > 0) formed.push_back(group->recovery());
  }
  return formed;
}

// ------------------------------------------------------------------------------------------------------------- runtime

Group*& SimulatedRuntime::simulated_working_group() { return working; }

bool SimulatedRuntime::has_group(int id) const {
  const Group* found = groups_.find(id);
  return found != nullptr && !found->is_deleted();
}

Group& SimulatedRuntime::working_group(int id) const {
  Group& found = attached_group(id);
  working = &found;
  return found;
}

void SimulatedRuntime::make_consistent(int id) {
  Group* deleted = groups_.find(id);
  Group& found = deleted != nullptr && deleted->is_deleted() ? *deleted : working_group(id);
  if (!found.make_consistent()) groups_.erase(id);
}

void SimulatedRuntime::withdraw_from_call() {
  if (working != nullptr) working->attachment().withdraw();
}

bool SimulatedRuntime::repair(int, int) {
  failure_seen = true;
  groups_.team->dissolve();
  return true;
}

}  // namespace fenix_impl
