// SPDX-License-Identifier: BSD-3-Clause
#include "orders/model.hpp"

namespace fenix_orders {

const Snapshot* Group::at_most(int rank, std::optional<int> stamp, const std::vector<int>& ranks) const {
  const auto& own = snapshots[static_cast<std::size_t>(rank)];
  for (auto each = own.rbegin(); each != own.rend(); ++each) {
    if (stamp && each->stamp > *stamp) continue;
    const bool on_all = std::all_of(ranks.begin(), ranks.end(), [&](int other) {
      const auto& there = snapshots[static_cast<std::size_t>(other)];
      return std::any_of(there.begin(), there.end(),
                         [&](const Snapshot& its) { return its.stamp == each->stamp && !its.deleted; });
    });
    if (on_all) return &*each;
  }
  return nullptr;
}

std::vector<int> Group::stamps(int rank) const {
  std::vector<int> stamps;
  for (const Snapshot& each : snapshots[static_cast<std::size_t>(rank)]) {
    if (!each.deleted) stamps.insert(stamps.begin(), each.stamp);
  }
  return stamps;
}

void Group::commit() {
  for (std::size_t rank = 0; rank < snapshots.size(); ++rank) {
    Snapshot next;
    next.stamp = next_stamp;
    if (const Snapshot* before = latest(static_cast<int>(rank))) next.members = before->members;
    for (Member& member : members) {
      OnRank& own = member.on[rank];
      if (own.is_stored) {
        Version& version = next.members[member.id];
        version.size = own.stored.empty() ? 0 : own.stored.rbegin()->first + 1;
        if (!member.is_resizeable()) version.size = own.count;
        for (const auto& [element, value] : own.stored) version.elements[element] = value;
      }
      own.forget_work();
    }
    auto& of_rank = snapshots[rank];
    of_rank.push_back(std::move(next));
    const auto kept = [&] {
      return std::count_if(of_rank.begin(), of_rank.end(), [](const Snapshot& each) { return !each.deleted; });
    };
    while (depth >= 0 && kept() > depth + 1) of_rank.erase(of_rank.begin());
  }
  ++next_stamp;
  is_touched = has_committed = true;
}

void Group::keep_consistent() {
  for (const Snapshot& each : std::vector<Snapshot>(snapshots[0])) {
    const bool gone = std::any_of(snapshots.begin(), snapshots.end(), [&](const auto& of_rank) {
      return std::any_of(of_rank.begin(), of_rank.end(),
                         [&](const Snapshot& its) { return its.stamp == each.stamp && its.deleted; });
    });
    if (!gone) continue;
    for (auto& of_rank : snapshots) {
      for (Snapshot& its : of_rank) its.deleted = its.deleted || its.stamp == each.stamp;
    }
  }
  for (const Member& member : members) {
    if (member.is_everywhere()) continue;
    for (auto& of_rank : snapshots) {
      for (Snapshot& its : of_rank) its.members.erase(member.id);
    }
  }
  std::erase_if(members, [](const Member& member) { return !member.is_everywhere(); });
}

void Model::unfreeze(const Group& group) {
  for (auto& of_rank : sources) {
    for (auto& [id, source] : of_rank) {
      if (source.group == group.id) source.is_frozen = false;
    }
  }
}

Expected restored(const Version& version, bool with_older, int max_count) {
  Expected expected;
  for (const auto& [element, value] : version.elements) {
    if (with_older || element < version.size) expected.found[element] = value;
  }
  int wanted = max_count;
  if (max_count < 0) wanted = expected.found.empty() ? 0 : expected.found.rbegin()->first + 1;
  for (int element = 0; element < wanted; ++element) {
    expected.is_partial = expected.is_partial || expected.found.count(element) == 0;
  }
  return expected;
}

}  // namespace fenix_orders
