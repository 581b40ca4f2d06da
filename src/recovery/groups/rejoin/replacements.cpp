// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/groups/rejoin/replacements.hpp"

#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "base/error.hpp"

namespace fenix_impl {
namespace {

/// A rank that has taken the place of a dead one. Sent to other ranks.
struct Replacement {
  std::int32_t rank = -1;
  std::int32_t reserved = 0;
  Location location;

  auto operator<=>(const Replacement&) const = default;
};

/// A region that a rank has kept for the one that takes the place of its owner. Sent to other ranks.
struct Offer {
  std::int32_t holder = -1;
  std::int32_t reserved = 0;
  OrphanedRegion region;

  [[nodiscard]] auto key() const { return std::tuple(region.owner, holder, region.what); }
  bool operator<(const Offer& other) const { return key() < other.key(); }
};

}  // namespace

void Replacements::find(Team& team, bool is_one) {
  std::vector<Replacement> mine;
  if (is_one) mine.push_back({team.rank(), 0, team.location()});
  for (const Replacement& each : team.gather_some(std::span<const Replacement>(mine))) {
    if (each.rank < 0 || each.rank >= team.size()) {
      throw Error(FENIX_ERROR_INTERN, "what a rank says of its number cannot be");
    }
    locations_[each.rank] = each.location;
    missing_.insert(each.rank);
  }
}

void Replacements::adopt_memory(Team& team, Group& group, bool is_kept) {
  if (locations_.empty()) return;
  const int self = team.rank();
  GroupRecovery recovery = group.recovery();
  const OrphanedMemory& kept = recovery.orphaned_memory();
  std::vector<Offer> mine;
  if (!includes(self)) {
    for (const OrphanedRegion& each : kept.offers()) {
      const auto replacement = locations_.find(each.owner);
      if (replacement != locations_.end() && replacement->second == team.location()) mine.push_back({self, 0, each});
    }
  }
  // The offers of one holder are next to each other.
  const auto offered = team.gather_some(std::span<const Offer>(mine));
  std::map<int, std::vector<OrphanedRegion>> for_this;
  for (const Offer& each : offered) {
    if (each.region.owner == self) for_this[each.holder].push_back(each.region);
  }
  std::vector<std::int32_t> taken;
  for (const auto& [holder, regions] : for_this) {
    if (taken.empty() && includes(self) && recovery.adopt_memory(regions)) taken.push_back(self);
  }
  if (recovery.adopt_kept_memory()) taken.push_back(self);
  if (is_kept || !offered.empty()) {
    for (const std::int32_t rank : team.gather_some(std::span<const std::int32_t>(taken))) {
      if (!includes(rank)) throw Error(FENIX_ERROR_INTERN, "a rank has taken over what it had itself");
      adopted_.insert(rank);
      missing_.erase(rank);
    }
  }
  // Memory that nobody takes over must not stand beside what is made anew.
  if (includes(kept.owner())) recovery.drop_orphaned_memory();
}

}  // namespace fenix_impl
