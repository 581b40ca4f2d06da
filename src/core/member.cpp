// SPDX-License-Identifier: BSD-3-Clause
#include "core/member.hpp"

#include <algorithm>

namespace fenix_impl {

const SlotLayout& Member::layout_of(int rank) const {
  static const SlotLayout unknown;
  const auto found =
      std::find_if(peer_layouts.begin(), peer_layouts.end(), [&](const auto& each) { return each.first == rank; });
  return found == peer_layouts.end() ? unknown : found->second;
}

void Member::forget_slots() {
  std::fill(stale.begin(), stale.end(), IntervalSet::everything());
  std::fill(slot_epochs.begin(), slot_epochs.end(), Epoch{});
}

void Member::add_slots(std::uint32_t slots) {
  stale.resize(slots, IntervalSet::everything());
  stale_next.resize(slots);
  slot_epochs.resize(slots);
}

const MemberVersion* version_in(const Record& record, const Member& member) {
  const MemberVersion* version = record.find(member.info.id);
  return version != nullptr && version->stored_in > member.info.created_after ? version : nullptr;
}

}  // namespace fenix_impl
