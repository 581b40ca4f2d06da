// SPDX-License-Identifier: BSD-3-Clause
// Slots of a member, with their tables: none overlaps another one, all are where a region has room.
#include "core/member/slots.hpp"
#include "base/lowest_free.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <vector>

#include "base/error.hpp"
#include "base/simd/slot_hashes.hpp"

namespace fenix_impl {
namespace {

constexpr std::uint64_t kStart = 4096;
constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

// Returns the size of the table of hashes for so many bytes.
std::uint64_t table_bytes(std::uint64_t bytes) { return hash_blocks(bytes) * sizeof(std::uint64_t); }

// A peer says how many there are, so there may be none.
TEST(SlotLayout, WithoutSlotsIsAnError) {
  EXPECT_THROW(SlotLayout(0, 8, 8), Error);
  EXPECT_THROW(SlotLayout(0, 0, 0), Error);
}

struct Range {
  std::uint64_t begin;
  std::uint64_t end;
};

// Elements and tables of the slots that have any, in the order of their places.
std::vector<Range> ranges(const SlotLayout& layout) {
  std::vector<Range> all;
  const auto add = [&](std::uint64_t begin, std::uint64_t bytes) {
    if (bytes > 0) all.push_back({begin, begin + bytes});
  };
  for (std::uint32_t slot = 0; slot < layout.slots(); ++slot) {
    add(layout.own_offset(slot), layout.own_bytes());
    add(layout.own_offset(slot) + layout.own_table(), table_bytes(layout.own_bytes()));
    add(layout.held_offset(slot), layout.held_bytes());
    add(layout.held_offset(slot) + layout.held_table(), table_bytes(layout.held_bytes()));
  }
  std::sort(all.begin(), all.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
  return all;
}

void expect_sound(std::uint32_t slots, std::uint64_t own_bytes, std::uint64_t held_bytes) {
  SCOPED_TRACE(testing::Message() << slots << " slots of " << own_bytes << " and " << held_bytes << " bytes");
  const SlotLayout layout(slots, own_bytes, held_bytes);
  EXPECT_EQ(layout.slots(), slots);
  EXPECT_EQ(layout.own_bytes(), own_bytes);
  EXPECT_EQ(layout.held_bytes(), held_bytes);
  std::uint64_t end = kStart;
  for (const Range& range : ranges(layout)) {
    EXPECT_GE(range.begin, end);
    EXPECT_EQ(range.begin % sizeof(std::uint64_t), 0U) << "tables are words";
    EXPECT_GT(range.end, range.begin);
    end = std::max(end, range.end);
  }
  EXPECT_LE(end, layout.end());
  for (std::uint32_t slot = 0; slot < slots; ++slot) {
    EXPECT_EQ(layout.own_offset(slot) % 64, 0U);
    EXPECT_EQ(layout.held_offset(slot) % 64, 0U);
  }
}

TEST(SlotLayout, SlotsDoNotOverlapAndLieInTheRegion) {
  const std::uint64_t sizes[] = {0,
                                 1,
                                 7,
                                 63,
                                 64,
                                 65,
                                 4095,
                                 4096,
                                 4097,
                                 12345,
                                 65536,
                                 kHashBlock - 1,
                                 kHashBlock,
                                 kHashBlock + 1,
                                 1 << 20,
                                 (1 << 20) + 1,
                                 std::uint64_t{1} << 33,
                                 (std::uint64_t{1} << 40) + 8};
  for (const std::uint32_t slots : {2U, 3U, 10U, 4098U}) {
    for (const std::uint64_t own : sizes) {
      for (const std::uint64_t held : sizes) {
        // Thousands of slots once per size are enough.
        if (slots <= 10 || held == own) expect_sound(slots, own, held);
      }
    }
  }
}

TEST(SlotLayout, LargeSlotsStartOnAPage) {
  const SlotLayout layout(3, 4097, 10000);
  for (std::uint32_t slot = 0; slot < 3; ++slot) {
    EXPECT_EQ(layout.own_offset(slot) % 4096, 0U);
    EXPECT_EQ(layout.held_offset(slot) % 4096, 0U);
  }
}

TEST(SlotLayout, SlotIsLargeByItsElementsAndTable) {
  EXPECT_EQ(SlotLayout(2, 4096 - 8, 0).own_offset(1) % 4096, 0U) << "a page with its table";
  EXPECT_EQ(SlotLayout(2, 4096 - 64, 0).own_offset(1), kStart + 4096 - 64 + 64);
}

TEST(SlotLayout, TableHasAWordForEachBlock) {
  const auto room = [](std::uint64_t bytes) {
    const SlotLayout layout(1, bytes, 0);
    return layout.held_offset(0) - layout.own_offset(0) - layout.own_table();
  };
  for (const auto blocks : std::initializer_list<std::uint64_t>{1, 2, 3, 511, 512, 513, 100000}) {
    EXPECT_GE(room(blocks * kHashBlock), blocks * 8) << blocks;
    EXPECT_GE(room(blocks * kHashBlock + 1), blocks * 8 + 8) << blocks;
  }
}

TEST(SlotLayout, OffsetsAreThoseOfTheFormat) {
  const SlotLayout layout(3, 100, 5000);
  EXPECT_EQ(layout.own_table(), 104U);
  EXPECT_EQ(layout.held_table(), 5000U);
  const std::uint64_t own[] = {4096, 4096 + 128, 4096 + 256};
  const std::uint64_t held[] = {4096 + 384, 4096 + 384 + 8192, 4096 + 384 + 2 * 8192};
  for (std::uint32_t slot = 0; slot < 3; ++slot) {
    EXPECT_EQ(layout.own_offset(slot), own[slot]);
    EXPECT_EQ(layout.held_offset(slot), held[slot]);
  }
  EXPECT_EQ(layout.end(), 4096U + 384 + 3 * 8192);
}

TEST(SlotLayout, WithoutSlotsIsEmpty) {
  EXPECT_EQ(SlotLayout().slots(), 0U);
  EXPECT_EQ(SlotLayout().end(), kStart);
}

TEST(SlotLayout, HasRoomForWhatIsNotLargerInAnyWay) {
  const SlotLayout layout(3, 100, 200);
  EXPECT_TRUE(layout.has_room_for(layout));
  EXPECT_TRUE(layout.has_room_for(SlotLayout()));
  EXPECT_TRUE(layout.has_room_for({2, 100, 200}));
  EXPECT_TRUE(layout.has_room_for({3, 99, 0}));
  EXPECT_FALSE(layout.has_room_for({4, 100, 200}));
  EXPECT_FALSE(layout.has_room_for({3, 101, 200}));
  EXPECT_FALSE(layout.has_room_for({3, 100, 201}));
  EXPECT_FALSE(layout.has_room_for({1, 1, 201}));
  EXPECT_FALSE(SlotLayout().has_room_for(layout));
}

TEST(SlotLayout, SmallSlotsTakeNoPageEach) { EXPECT_LE(SlotLayout(10, 8, 8).end(), kStart + 20 * 64); }

TEST(SlotLayout, LargestSizesAreSoundOrRefused) {
  int refused = 0;
  int accepted = 0;
  for (const std::uint32_t slots : {2U, 3U, 4098U}) {
    for (int shift = 40; shift < 64; ++shift) {
      for (const std::uint64_t around : {std::uint64_t{0}, std::uint64_t{1}, kMost}) {
        const std::uint64_t bytes = (std::uint64_t{1} << shift) + around;
        for (const auto& [own, held] :
             {std::pair{bytes, std::uint64_t{1}}, {std::uint64_t{1}, bytes}, {bytes, bytes}}) {
          try {
            expect_sound(slots, own, held);
            ++accepted;
          } catch (const Error& error) {
            EXPECT_EQ(error.code(), FENIX_ERROR_NO_MEMORY);
            ++refused;
          }
        }
      }
    }
  }
  EXPECT_GT(refused, 0);
  EXPECT_GT(accepted, 0);
}

TEST(SlotLayout, RefusesSizesThatOverflow) {
  for (const std::uint64_t bytes : {kMost, kMost - 63, kMost - 4095, kMost - 4096, kMost / 2, kMost / 3 + 1}) {
    for (const auto& [own, held] : {std::pair{bytes, std::uint64_t{0}}, {std::uint64_t{0}, bytes}, {bytes, bytes}}) {
      try {
        const SlotLayout layout(3, own, held);
        ADD_FAILURE() << own << " and " << held << " bytes were accepted";
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), FENIX_ERROR_NO_MEMORY);
      }
    }
  }
}

TEST(LowestFree, IsTheLowestThatIsNotUsed) {
  EXPECT_EQ(lowest_free(3, {}), 0U);
  EXPECT_EQ(lowest_free(3, std::vector<std::uint32_t>{0}), 1U);
  EXPECT_EQ(lowest_free(3, std::vector<std::uint32_t>{2, 0}), 1U);
  EXPECT_EQ(lowest_free(3, std::vector<std::uint32_t>{1, 1, 2}), 0U);
  EXPECT_EQ(lowest_free(3, std::vector<std::uint32_t>{7, 0, 1}), 2U);
}

TEST(LowestFree, IsNoneIfAllAreUsed) {
  EXPECT_EQ(lowest_free(3, std::vector<std::uint32_t>{2, 0, 1}), std::nullopt);
  EXPECT_EQ(lowest_free(0, {}), std::nullopt);
}

}  // namespace
}  // namespace fenix_impl
