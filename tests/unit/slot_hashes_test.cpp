// SPDX-License-Identifier: BSD-3-Clause
// Hashes of slots: what belongs to an element is guarded, bit by bit, and nothing else is.
#include "base/simd/slot_hashes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/simd/hash.hpp"

namespace fenix_impl {
namespace {

// Elements of a member and their table, as they are in a slot.
class Slot {
 public:
  Slot(std::uint64_t elements, std::uint32_t element_bytes, IntervalSet found, std::uint64_t seed = 1)
      : element_bytes_(element_bytes),
        found_(std::move(found)),
        data_(elements * element_bytes),
        table_(hash_blocks(data_.size()), 0x5555) {
    std::mt19937_64 random(seed);
    for (std::byte& byte : data_) byte = static_cast<std::byte>(random());
    for (std::uint64_t block = 0; block < hash_blocks(bytes()); ++block) {
      table_[block] = hash_of_block(std::span<const std::byte>(data_).first(bytes()), block, found_, element_bytes_);
    }
    table_hash_ = hash_of_table(table_, bytes());
  }

  [[nodiscard]] std::uint64_t bytes() const { return found_.end() * element_bytes_; }
  [[nodiscard]] bool sound() { return verify({data_, table_}, found_, element_bytes_, table_hash_); }
  [[nodiscard]] bool has(std::uint64_t byte) const {
    return found_.covers(byte / element_bytes_, byte / element_bytes_ + 1);
  }
  // Whether a bit is noticed that flips in the data or in the table.
  bool notices(std::uint64_t byte, int bit) { return notices(data_.at(byte), bit); }
  bool notices_in_table(std::uint64_t word, int bit) {
    return notices(std::as_writable_bytes(std::span(table_)).subspan(word * 8 + static_cast<std::uint64_t>(bit) / 8)[0],
                   bit % 8);
  }
  // The bytes of a block that belong to elements, one after the other.
  [[nodiscard]] std::vector<std::byte> gathered(std::uint64_t block) const {
    std::vector<std::byte> all;
    for (std::uint64_t byte = block * kHashBlock; byte < std::min((block + 1) * kHashBlock, bytes()); ++byte) {
      if (has(byte)) all.push_back(data_[byte]);
    }
    return all;
  }
  [[nodiscard]] const std::vector<std::uint64_t>& table() const { return table_; }
  [[nodiscard]] std::vector<std::byte>& data() { return data_; }
  [[nodiscard]] const std::vector<std::byte>& data() const { return data_; }
  [[nodiscard]] std::uint64_t table_hash() const { return table_hash_; }
  [[nodiscard]] const IntervalSet& found() const { return found_; }
  [[nodiscard]] std::uint32_t element_bytes() const { return element_bytes_; }

 private:
  bool notices(std::byte& byte, int bit) {
    const auto mask = static_cast<std::byte>(1U << bit);
    byte ^= mask;
    const bool noticed = !sound();
    byte ^= mask;
    return noticed;
  }

  std::uint32_t element_bytes_;
  IntervalSet found_;
  std::vector<std::byte> data_;
  std::vector<std::uint64_t> table_;
  std::uint64_t table_hash_ = 0;
};

constexpr std::uint64_t kB = kHashBlock;

// Elements with and without gaps, of sizes that divide a block and that do not, larger than a block among them.
std::vector<Slot> slots() {
  std::vector<Slot> all;
  all.emplace_back(100, 8, IntervalSet(0, 100));
  all.emplace_back(100, 8, IntervalSet::of({{3, 5}, {20, 90}}));
  all.emplace_back(kB / 8, 8, IntervalSet(0, kB / 8));
  all.emplace_back(3 * kB / 8 + 1, 8, IntervalSet(0, 3 * kB / 8 + 1));
  all.emplace_back(3 * kB, 1, IntervalSet::of({{kB - 1, kB}, {kB + 1, kB + 2}, {2 * kB, 2 * kB + 1}}));
  all.emplace_back(3 * kB / 24 + 7, 24,
                   IntervalSet::of({{0, 10}, {kB / 24 - 1, kB / 24 + 2}, {2 * kB / 24, 2 * kB / 24 + 1}}));
  all.emplace_back(4, 100000, IntervalSet::of({{0, 1}, {2, 4}}));
  all.emplace_back(3, 3 * kB + 5, IntervalSet::of({{0, 1}, {2, 3}}));
  all.emplace_back(5, 3 * kB - 5, IntervalSet(1, 2));
  return all;
}

std::string named(const Slot& slot) {
  return std::to_string(slot.data().size()) + " bytes, elements of " + std::to_string(slot.element_bytes());
}

TEST(HashBlocks, AreAsManyAsBytesNeed) {
  EXPECT_EQ(kHashBlock, 131072U) << "a number of the format";
  EXPECT_EQ(hash_blocks(0), 0U);
  EXPECT_EQ(hash_blocks(1), 1U);
  EXPECT_EQ(hash_blocks(kB), 1U);
  EXPECT_EQ(hash_blocks(kB + 1), 2U);
  EXPECT_EQ(hash_blocks(~std::uint64_t{0}), (std::uint64_t{1} << 47));
}

TEST(HashOfBlock, IsThatOfTheBytesOfItsElements) {
  for (const Slot& slot : slots()) {
    SCOPED_TRACE(named(slot));
    ASSERT_GT(hash_blocks(slot.bytes()), 0U);
    for (std::uint64_t block = 0; block < hash_blocks(slot.bytes()); ++block) {
      EXPECT_EQ(slot.table()[block], hash_bytes(slot.gathered(block))) << "block " << block;
    }
  }
}

TEST(HashOfBlock, WithoutElementsIsThatOfNothing) {
  const std::vector<std::byte> data(2 * kB, std::byte{7});
  EXPECT_EQ(hash_of_block(data, 1, IntervalSet(0, 10), 8), hash_bytes({}));
}

// Stores hash whole blocks before they know which elements the snapshot will have.
TEST(HashOfBlock, OfABlockThatIsCoveredIsTheSameForAllSets) {
  Slot slot(3 * kB / 8, 8, IntervalSet(0, 3 * kB / 8));
  const IntervalSet sets[] = {IntervalSet::everything(), IntervalSet(kB / 8, 2 * kB / 8),
                              IntervalSet::of({{5, 6}, {kB / 8 - 3, 2 * kB / 8 + 1}})};
  for (const IntervalSet& set : sets) EXPECT_EQ(hash_of_block(slot.data(), 1, set, 8), slot.table()[1]);
}

TEST(HashOfTable, IsThatOfTheWordsThatAreNeeded) {
  std::vector<std::uint64_t> table{1, 2, 3};
  EXPECT_EQ(hash_of_table(table, 2 * kB), hash_bytes(std::as_bytes(std::span(table).first(2))));
  EXPECT_EQ(hash_of_table(table, 2 * kB + 1), hash_bytes(std::as_bytes(std::span(table))));
  EXPECT_EQ(hash_of_table({}, 0), hash_bytes({}));
  EXPECT_NE(hash_of_table(table, 1), hash_of_table(table, 3 * kB));
}

TEST(Verify, AcceptsWhatWasHashed) {
  for (Slot& slot : slots()) EXPECT_TRUE(slot.sound()) << named(slot);
  EXPECT_TRUE(verify({}, {}, 8, hash_of_table({}, 0))) << "nothing";
}

TEST(Verify, FindsEveryFlippedBitOfAnElementAndNoOther) {
  const IntervalSet found = IntervalSet::of({{0, 2}, {5, 6}, {8, 9}});
  Slot slot(12, 6, found);
  for (std::uint64_t byte = 0; byte < slot.data().size(); ++byte) {
    for (int bit = 0; bit < 8; ++bit) EXPECT_EQ(slot.notices(byte, bit), slot.has(byte)) << byte << ", bit " << bit;
  }
}

TEST(Verify, FindsFlippedBitsAtAllEdgesOfBlocksAndElements) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  for (Slot& slot : slots()) {
    SCOPED_TRACE(named(slot));
    std::vector<std::uint64_t> bytes;
    for (std::uint64_t edge = 0; edge <= slot.data().size(); edge += kB) bytes.insert(bytes.end(), {edge, edge - 1});
    for (const Interval& each : slot.found().intervals()) {
      const std::uint64_t from = each.first * slot.element_bytes();
      const std::uint64_t to = each.end * slot.element_bytes();
      bytes.insert(bytes.end(), {from, from - 1, to, to - 1});
    }
    for (int i = 0; i < 20; ++i) bytes.push_back(random() % slot.data().size());
    for (const std::uint64_t byte : bytes) {
      if (byte >= slot.data().size()) continue;
      EXPECT_EQ(slot.notices(byte, static_cast<int>(random() % 8)), slot.has(byte)) << "byte " << byte;
    }
    EXPECT_TRUE(slot.sound());
  }
}

TEST(Verify, FindsEveryFlippedBitOfTheTable) {
  Slot slot(3 * kB / 8 + 1, 8, IntervalSet(0, 3 * kB / 8 + 1));
  ASSERT_EQ(slot.table().size(), 4U);
  for (std::uint64_t word = 0; word < slot.table().size(); ++word) {
    for (int bit = 0; bit < 64; ++bit) EXPECT_TRUE(slot.notices_in_table(word, bit)) << word << ", bit " << bit;
  }
}

TEST(Verify, DoesNotLookAtTheTableBehindTheLastElement) {
  Slot slot(3 * kB, 1, IntervalSet(0, kB));
  ASSERT_EQ(slot.table().size(), 3U);
  EXPECT_TRUE(slot.notices_in_table(0, 5));
  EXPECT_FALSE(slot.notices_in_table(1, 5));
  EXPECT_FALSE(slot.notices(kB, 5));
}

TEST(Verify, FindsTheWrongTableHash) {
  Slot slot(100, 8, IntervalSet(0, 100));
  auto table = slot.table();
  EXPECT_TRUE(verify({slot.data(), table}, slot.found(), 8, slot.table_hash()));
  EXPECT_FALSE(verify({slot.data(), table}, slot.found(), 8, slot.table_hash() ^ 1));
}

// A table that was made for other data, with a right hash of its own.
TEST(Verify, FindsATableThatBelongsToOtherElements) {
  Slot slot(100, 8, IntervalSet(0, 100), 1);
  const Slot other(100, 8, IntervalSet(0, 100), 2);
  auto table = other.table();
  EXPECT_FALSE(verify({slot.data(), table}, slot.found(), 8, other.table_hash()));
}

TEST(Verify, FindsElementsThatWereNotHashed) {
  Slot slot(100, 8, IntervalSet(0, 50));
  auto table = slot.table();
  EXPECT_FALSE(verify({slot.data(), table}, IntervalSet(0, 51), 8, slot.table_hash()));
  EXPECT_FALSE(verify({slot.data(), table}, IntervalSet(1, 50), 8, slot.table_hash()));
}

}  // namespace
}  // namespace fenix_impl
