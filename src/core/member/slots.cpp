// SPDX-License-Identifier: BSD-3-Clause
#include "core/member/slots.hpp"

#include "base/error.hpp"
#include "base/pages.hpp"
#include "base/simd/slot_hashes.hpp"

namespace fenix_impl {
namespace {

constexpr std::uint64_t kCacheLine = 64;

std::uint64_t round_up(std::uint64_t bytes, std::uint64_t unit) { return (bytes + unit - 1) / unit * unit; }

std::size_t table_offset(std::uint64_t bytes) { return round_up(bytes, sizeof(std::uint64_t)); }

// Large slots start on a page, small ones on a cache line: both cost little there.
std::size_t stride(std::uint64_t bytes) {
  const std::uint64_t all = table_offset(bytes) + hash_blocks(bytes) * sizeof(std::uint64_t);
  return round_up(all, all >= kPage ? kPage : kCacheLine);
}

}  // namespace

SlotLayout::SlotLayout(std::uint32_t slots, std::uint64_t own_bytes, std::uint64_t held_bytes, std::uint32_t own_slots)
    : slots_(slots), own_slots_(own_slots), own_bytes_(own_bytes), held_bytes_(held_bytes) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 60;
  if (slots == 0) throw Error(FENIX_ERROR_INTERN, "a rank says that a member has no slots");
  if (own_slots != slots && own_slots != 1)
    throw Error(FENIX_ERROR_INTERN, "a rank says that some own slots are missing");
  if (own_bytes > kMost / slots || held_bytes > kMost / slots) {
    throw Error(FENIX_ERROR_NO_MEMORY, "the member is larger than an address can express");
  }
}

std::size_t SlotLayout::own_offset(std::uint32_t slot) const {
  return kPage + (own_slots_ == 1 ? 0 : slot) * stride(own_bytes_);
}

std::size_t SlotLayout::held_offset(std::uint32_t slot) const {
  return kPage + own_slots_ * stride(own_bytes_) + slot * stride(held_bytes_);
}

std::size_t SlotLayout::own_table() const { return table_offset(own_bytes_); }

std::size_t SlotLayout::held_table() const { return table_offset(held_bytes_); }

bool SlotLayout::has_room_for(const SlotLayout& other) const {
  if (other.slots_ == 0) return true;
  return slots_ >= other.slots_ && (own_slots_ == 1) == (other.own_slots_ == 1) && own_bytes_ >= other.own_bytes_ &&
         held_bytes_ >= other.held_bytes_;
}

}  // namespace fenix_impl
