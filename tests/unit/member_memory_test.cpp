// SPDX-License-Identifier: BSD-3-Clause
// Slots that move to another region.
#include "core/member/member_memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace fenix_impl {
namespace {

void fill_slot(const SlotView& slot, int value) { std::ranges::fill(slot.data, static_cast<std::byte>(value)); }

bool slot_has(const SlotView& slot, std::size_t bytes, int value) {
  const auto part = slot.data.first(bytes);
  return std::ranges::all_of(part, [&](std::byte each) { return each == static_cast<std::byte>(value); });
}

// A policy that holds less than the one before. Bytes for which there is no room are left out, and nothing beside is touched.
TEST(MemberMemory, SlotsMayLoseWhatIsHeld) {
  constexpr std::uint32_t kSlots = 2;
  constexpr std::uint64_t kOwn = 5000;
  constexpr std::uint64_t kLittle = 4096;
  constexpr std::uint64_t kMuch = std::uint64_t{3} << 20;
  const SlotLayout old(kSlots, kOwn, kMuch);
  const SlotLayout wanted(kSlots, kOwn, kLittle);
  MemberMemory memory;
  memory.replace(memory.grown(old), old);
  for (std::uint32_t slot = 0; slot < kSlots; ++slot) {
    fill_slot(memory.own_slot(slot), 1 + static_cast<int>(slot));
    fill_slot(memory.held_slot(slot), 11 + static_cast<int>(slot));
  }
  memory.replace(memory.grown(wanted), wanted);
  for (std::uint32_t slot = 0; slot < kSlots; ++slot) {
    EXPECT_TRUE(slot_has(memory.own_slot(slot), kOwn, 1 + static_cast<int>(slot))) << slot;
    EXPECT_TRUE(slot_has(memory.held_slot(slot), kLittle, 11 + static_cast<int>(slot))) << slot;
  }
}

// In place, a rank that takes the region over has to know of which commit the own slot is.
TEST(MemberMemory, GrowsWithTheEpochOfItsOwnSlot) {
  const SlotLayout old(2, 100, 100, 1);
  const SlotLayout wanted(2, 50000, 50000, 1);
  MemberMemory memory;
  memory.replace(memory.grown(old), old);
  memory.note_own({7});
  memory.replace(memory.grown(wanted), wanted);
  EXPECT_TRUE(memory.own_is({7}));
}

}  // namespace
}  // namespace fenix_impl
