// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/groups/storage/group_keeping.hpp"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "base/deadline.hpp"
#include "core/common/meeting.hpp"
#include "recovery/groups/rejoin/kept_group.hpp"

namespace fenix_impl {
namespace {

constexpr std::chrono::milliseconds kLeastLimit{1000};

}  // namespace

// Also between two regions of the same size there is a difference: their keys.
void GroupKeeping::keep(KeeperClient& keeper, Group& group, std::uint32_t run) {
  std::unique_lock lock(mutex_);
  Kept& kept = kept_[group.parameters().id];
  lock.unlock();
  auto description = describe_group(group, run);
  if (description == kept.description && keeper.connection().number() == kept.connection) return;
  kept.of = {group.parameters().id, group.ranks().rank, static_cast<std::uint32_t>(group.ranks().size), run,
             group.log().generation().value};
  kept.connection = keeper.memory().keep_group(kept.of, description, regions_of(group));
  kept.description = std::move(description);
}

void GroupKeeping::forget(KeeperClient* keeper, int group_id) {
  std::unique_lock lock(mutex_);
  const auto known = kept_.extract(group_id);
  lock.unlock();
  if (known && keeper != nullptr && known.mapped().connection != 0) keeper->memory().drop_group(known.mapped().of);
}

std::unique_ptr<Group> GroupKeeping::find(KeeperClient& keeper, int group_id, Team& team, std::uint32_t run,
                                          std::chrono::milliseconds limit) {
  const KeptSearch search{group_id, team.rank(), static_cast<std::uint32_t>(team.size()), run};
  const auto kept = keeper.memory().kept_group(search, limit, [&team] { team.check(); });
  if (!kept) return {};
  return group_described(kept->description, kept->at.process, kept->at.files, team.rank(), team.size());
}

// A rank whose memory is lost hears from the others which groups there are. A rank may have moved since the description that an old keeper has.
GroupKeeping::Found GroupKeeping::all(KeeperClient& keeper, Team& team, std::uint32_t run,
                                      std::chrono::milliseconds limit) {
  struct Described {
    GroupParameters parameters;
    KeptOrigin origin;
    std::uint8_t has_commits = 0;
    [[nodiscard]] auto age() const { return std::pair(origin.run, origin.generation); }
  };
  std::map<int, Described> here;
  std::set<int> ids;
  (void)meet(team, Operation::fetch, 0, 0, [&] {
    const Deadline deadline(limit);
    for (const KeptGroupOf& each : keeper.memory().kept_groups([&team] { team.check(); })) {
      ids.insert(each.group);
      if (each.rank != team.rank() || here.count(each.group) != 0) continue;
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline.left());
      const auto group = find(keeper, each.group, team, run, std::max<std::chrono::milliseconds>(left, kLeastLimit));
      if (!group) continue;
      const KeptMemory& kept = *group->recovery().kept_memory();
      here[each.group] = {group->parameters(), kept.origin, static_cast<std::uint8_t>(kept.has_commits ? 1 : 0)};
    }
  });
  std::vector<Described> mine;
  for (const auto& [id, described] : here) mine.push_back(described);
  std::map<int, Described> newest;
  for (const auto& of_rank : team.gather_lists(std::span<const Described>(mine))) {
    for (const Described& each : of_rank) {
      Described& known = newest.try_emplace(each.parameters.id, each).first->second;
      if (known.age() < each.age()) known = each;
      if (known.age() == each.age()) known.has_commits = std::max(known.has_commits, each.has_commits);
    }
  }
  Found found;
  const std::vector<int> own(ids.begin(), ids.end());
  for (const int id : team.gather_some(std::span<const int>(own))) {
    const auto known = newest.find(id);
    if (known == newest.end()) {
      found.unusable.push_back(id);
    } else if (known->second.has_commits != 0) {
      found.groups.push_back(known->second.parameters);
    }
  }
  return found;
}

}  // namespace fenix_impl
