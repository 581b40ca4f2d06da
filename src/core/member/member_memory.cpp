// SPDX-License-Identifier: BSD-3-Clause
#include "core/member/member_memory.hpp"

#include <algorithm>
#include <cstring>

#include "base/pages.hpp"

namespace fenix_impl {
namespace {

// A change of policy may leave less room for what is held.
void copy_slots(const Region& from, const SlotLayout& old, const Region& to, const SlotLayout& grown) {
  const std::uint64_t own = std::min(old.own_bytes(), grown.own_bytes());
  const std::uint64_t held = std::min(old.held_bytes(), grown.held_bytes());
  const auto copy = [&](std::size_t source, std::size_t target, std::size_t bytes) {
    if (bytes > 0) std::memcpy(to.bytes().data() + target, from.bytes().data() + source, bytes);
  };
  for (std::uint32_t slot = 0; slot < std::min(old.own_slots(), grown.own_slots()); ++slot) {
    copy(old.own_offset(slot), grown.own_offset(slot), own);
    copy(old.own_offset(slot) + old.own_table(), grown.own_offset(slot) + grown.own_table(),
         hash_blocks(own) * sizeof(std::uint64_t));
  }
  for (std::uint32_t slot = 0; slot < std::min(old.slots(), grown.slots()); ++slot) {
    copy(old.held_offset(slot), grown.held_offset(slot), held);
    copy(old.held_offset(slot) + old.held_table(), grown.held_offset(slot) + grown.held_table(),
         hash_blocks(held) * sizeof(std::uint64_t));
  }
}

}  // namespace

std::uint64_t MemberMemory::footprint() const { return to_pages(layout_.end()); }

Region MemberMemory::grown(const SlotLayout& layout) const {
  Region region(layout.end());
  region.reserve(0, layout.end());
  if (layout_.slots() > 0) {
    copy_slots(region_, layout_, region, layout);
    word_of(region).store(own_word().load(std::memory_order_acquire), std::memory_order_release);
  }
  return region;
}

void MemberMemory::replace(Region region, const SlotLayout& layout) {
  layout_ = layout;
  region_ = std::move(region);
}

Region MemberMemory::release() {
  layout_ = {};
  counts_.clear();
  Region region = std::move(region_);
  region_ = Region();
  return region;
}

const SlotLayout& MemberMemory::layout_of(int rank) const {
  static const SlotLayout unknown;
  const auto found =
      std::find_if(peer_layouts_.begin(), peer_layouts_.end(), [&](const auto& each) { return each.first == rank; });
  return found == peer_layouts_.end() ? unknown : found->second;
}

void MemberMemory::adopt(Exposed exposed) noexcept {
  remote_ = std::move(exposed.remote);
  peer_layouts_ = std::move(exposed.peer_layouts);
  retained_layout_ = exposed.retained_layout;
}

}  // namespace fenix_impl
