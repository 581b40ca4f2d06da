// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/groups/storage/memory_lease.hpp"

#include <chrono>
#include <exception>

#include "base/error.hpp"
#include "base/log.hpp"

namespace fenix_impl {
namespace {

constexpr int kAllSnapshots = -1;

}  // namespace

void MemoryLease::clear() {
  keeping_.clear();
  has_warned_of_refusal_ = has_released_ = false;
}

std::unique_ptr<Group> MemoryLease::find(int group_id, Team& team) {
  if (!store_.is_on() || store_.settings().lease == 0 || !store_.settings().fetches) return {};
  try {
    auto found = GroupKeeping::find(store_.keeper(), group_id, team, store_.run(), store_.patience());
    // A drain is not what the program may die of.
    if (found && store_.drains()) found->recovery().forget_tries();
    return found;
  } catch (const Error& error) {
    log().warn("group {}: {}", group_id, error.what());
    return {};
  }
}

GroupKeeping::Found MemoryLease::find_all(Team& team) {
  return GroupKeeping::all(store_.keeper(), team, store_.run(), store_.patience());
}

// The next job must find on all ranks the memory that counts, before any of them commits to it.
void MemoryLease::keep(Group& group) noexcept {
  StorageGroup* const known = groups_.find(group);
  if (known == nullptr || std::chrono::steady_clock::now() < known->quiet_until) return;
  try {
    keeping_.keep(store_.keeper(), group, store_.run());
  } catch (const std::exception& error) {
    known->quiet_until = std::chrono::steady_clock::now() + std::chrono::seconds(store_.settings().seconds);
    log().warn("group {}: its memory is not kept: {}", group.parameters().id, error.what());
  }
}

void MemoryLease::keep_commit(Group& group, Flushing& flushing, const Flushing::OfGroup& mine) {
  flushing.keep_latest(group, mine, store_.run());
  group.recovery().forget_tries();
  // Another keeper may be there since the commit began.
  keep(group);
}

// Its snapshots that are kept must not come back in the next job.
void MemoryLease::forget(int group_id, std::uint32_t generation) {
  KeeperClient* const keeper = store_.keeper_if_any().get();
  try {
    keeping_.forget(keeper, group_id);
    if (store_.is_on() && store_.keeps_memory()) {
      keeper->memory().drop_snapshots({group_id, store_.run(), generation, kAllSnapshots});
    }
  } catch (const Error& error) {
    log().warn("group {}: {}", group_id, error.what());
  }
}

void MemoryLease::forget_snapshot(const Group& group, int time_stamp) noexcept {
  if (!store_.is_on() || !store_.keeps_memory()) return;
  try {
    store_.keeper_if_any()->memory().drop_snapshots(
        {group.parameters().id, store_.run(), group.log().generation().value, time_stamp});
  } catch (const std::exception& error) {
    log().warn("group {}: {}", group.parameters().id, error.what());
  }
}

void MemoryLease::drop_earlier(const Group& group) noexcept {
  try {
    const GroupRanks& ranks = group.ranks();
    store_.keeper().memory().drop_group({group.parameters().id, ranks.rank, static_cast<std::uint32_t>(ranks.size),
                                         store_.run() - 1, ~std::uint32_t{0}});
  } catch (const std::exception& error) {
    log().warn("group {}: {}", group.parameters().id, error.what());
  }
}

// Otherwise it would stay as long as this job lives.
void MemoryLease::release_earlier() noexcept {
  if (has_released_.exchange(true)) return;
  try {
    store_.keeper().memory().release(store_.run());
  } catch (const std::exception& error) {
    log().warn("memory of an earlier job may stay: {}", error.what());
  }
}

void MemoryLease::warn_of_refusal() {
  const auto why = store_.keeper().connection().refusal();
  if (!why || has_warned_of_refusal_.exchange(true)) return;
  log().warn("FENIX_KEEP: memory of this rank is not kept, and a job that is started again begins with the store: {}",
             *why);
}

}  // namespace fenix_impl
