// SPDX-License-Identifier: BSD-3-Clause
#include "keeper/kept_groups.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace fenix_impl {
namespace {

auto age_of(const KeptGroupOf& of) { return std::tuple(of.run, of.generation); }

/// Returns the process that uses it, or null if that has ended.
const KeeperPeer* user_of(const KeptGroups::Kept& kept) {
  const auto user = kept.user.lock();
  return user && !user->has_gone ? user.get() : nullptr;
}

}  // namespace

// A rank may have another number since a repair that has shrunk the group, and be on another node since a repair.
void KeptGroups::keep(Kept kept) {
  const KeeperPeer* const user = user_of(kept);
  std::erase_if(kept_, [&](const Kept& each) {
    const bool is_replaced = each.of.rank == kept.of.rank && age_of(each.of) <= age_of(kept.of);
    const bool is_left = user_of(each) == nullptr && age_of(each.of) < age_of(kept.of);
    return each.of.group == kept.of.group && (is_replaced || is_left || (user != nullptr && user_of(each) == user));
  });
  kept_.push_back(std::move(kept));
}

void KeptGroups::drop(const KeptGroupOf& of) {
  std::erase_if(kept_, [&](const Kept& each) {
    return each.of.group == of.group && each.of.rank == of.rank && age_of(each.of) <= age_of(of);
  });
}

void KeptGroups::forget_until(std::uint32_t run) {
  std::erase_if(kept_, [run](const Kept& each) { return each.of.run <= run; });
}

std::vector<KeptGroupOf> KeptGroups::all() const {
  std::vector<KeptGroupOf> all;
  for (const Kept& each : kept_) all.push_back(each.of);
  return all;
}

KeptGroups::Kept* KeptGroups::find(const KeptSearch& search) {
  Kept* found = nullptr;
  for (Kept& each : kept_) {
    const bool is_wanted =
        each.of.group == search.group && each.of.rank == search.rank && each.of.ranks == search.ranks;
    if (is_wanted && (found == nullptr || age_of(each.of) > age_of(found->of))) found = &each;
  }
  return found;
}

bool KeptGroups::is_in_use(const Kept& kept, const KeeperPeer& asking, std::uint32_t asking_run) const {
  const KeeperPeer* const own = user_of(kept);
  if (own != nullptr && own != &asking) return true;
  return std::any_of(kept_.begin(), kept_.end(), [&](const Kept& each) {
    return each.of.run == kept.of.run && each.run_of_user != asking_run && user_of(each) != nullptr;
  });
}

}  // namespace fenix_impl
