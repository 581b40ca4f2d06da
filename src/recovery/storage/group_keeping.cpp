// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/storage/group_keeping.hpp"

#include <utility>

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

}  // namespace fenix_impl
