// SPDX-License-Identifier: BSD-3-Clause
#include "keeper/kept_groups.hpp"

#include <algorithm>
#include <utility>

namespace fenix_impl {
namespace {

bool is_of(const KeptGroups::Kept& kept, const KeptGroupOf& of) {
  return kept.of.group == of.group && kept.of.rank == of.rank && kept.of.run == of.run;
}

}  // namespace

// A rank may have another number since a repair that has shrunk the group.
void KeptGroups::keep(Kept kept) {
  const auto user = kept.user.lock();
  std::erase_if(kept_, [&](const Kept& each) {
    const bool is_older = each.of.run < kept.of.run || each.user.lock() == user;
    return is_of(each, kept.of) || (each.of.group == kept.of.group && is_older);
  });
  kept_.push_back(std::move(kept));
}

void KeptGroups::drop(const KeptGroupOf& of) {
  std::erase_if(kept_, [&](const Kept& each) { return is_of(each, of); });
}

void KeptGroups::forget(std::uint32_t run) {
  std::erase_if(kept_, [run](const Kept& each) { return each.of.run == run; });
}

KeptGroups::Kept* KeptGroups::find(const KeptSearch& search) {
  Kept* found = nullptr;
  for (Kept& each : kept_) {
    const bool is_wanted =
        each.of.group == search.group && each.of.rank == search.rank && each.of.ranks == search.ranks;
    if (is_wanted && (found == nullptr || each.of.run > found->of.run)) found = &each;
  }
  return found;
}

bool KeptGroups::is_in_use(std::uint32_t run, std::uint32_t asking_run) const {
  return std::any_of(kept_.begin(), kept_.end(), [&](const Kept& each) {
    const auto user = each.user.lock();
    return each.of.run == run && each.run_of_user != asking_run && user && !user->has_gone;
  });
}

}  // namespace fenix_impl
