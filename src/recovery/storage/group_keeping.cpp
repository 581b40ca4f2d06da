// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/storage/group_keeping.hpp"

#include <span>
#include <utility>

#include "core/common/meeting.hpp"
#include "recovery/rejoin/kept_group.hpp"

namespace fenix_impl {

// Also between two regions of the same size there is a difference: their keys.
void GroupKeeping::keep(KeeperClient& keeper, Group& group, std::uint32_t run) {
  std::unique_lock lock(mutex_);
  Kept& kept = kept_[group.parameters().id];
  lock.unlock();
  auto description = describe_group(group, run);
  if (description == kept.description && keeper.connection() == kept.connection) return;
  kept.of = {group.parameters().id, group.ranks().rank, static_cast<std::uint32_t>(group.ranks().size), run,
             group.log().generation().value};
  kept.connection = keeper.keep_group(kept.of, description, regions_of(group));
  kept.description = std::move(description);
}

void GroupKeeping::forget(KeeperClient* keeper, int group_id) {
  std::unique_lock lock(mutex_);
  const auto known = kept_.extract(group_id);
  lock.unlock();
  if (known && keeper != nullptr && known.mapped().connection != 0) keeper->drop_group(known.mapped().of);
}

std::unique_ptr<Group> GroupKeeping::find(KeeperClient& keeper, int group_id, Team& team, std::uint32_t run,
                                          std::chrono::milliseconds limit) {
  const KeptSearch search{group_id, team.rank(), static_cast<std::uint32_t>(team.size()), run};
  const auto kept = keeper.kept_group(search, limit, [&team] { team.check(); });
  if (!kept) return {};
  return group_described(kept->description, kept->at.process, kept->at.files, team.rank(), team.size());
}

// A rank whose memory is lost hears from the others which groups there are.
std::vector<GroupParameters> GroupKeeping::all(KeeperClient& keeper, Team& team, std::uint32_t run,
                                               std::chrono::milliseconds limit) {
  std::map<int, GroupParameters> here;
  (void)meet(team, Operation::fetch, 0, 0, [&] {
    for (const KeptGroupOf& each : keeper.kept_groups([&team] { team.check(); })) {
      if (each.rank != team.rank() || here.count(each.group) != 0) continue;
      if (const auto group = find(keeper, each.group, team, run, limit)) here[each.group] = group->parameters();
    }
  });
  std::vector<GroupParameters> mine;
  for (const auto& [id, parameters] : here) mine.push_back(parameters);
  std::map<int, GroupParameters> all;
  for (const auto& of_rank : team.gather_lists(std::span<const GroupParameters>(mine))) {
    for (const GroupParameters& each : of_rank) all.try_emplace(each.id, each);
  }
  mine.clear();
  for (const auto& [id, parameters] : all) mine.push_back(parameters);
  return mine;
}

}  // namespace fenix_impl
