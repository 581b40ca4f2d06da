// SPDX-License-Identifier: BSD-3-Clause
// Boards: what the ranks of a redundancy set know of each other's progress, with generations and torn words.
#include "core/log/board.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace fenix_impl {
namespace {

constexpr int kRanks = 3;
constexpr std::size_t kStart = 128;

using Memory = std::array<std::uint64_t, (kStart + kRanks * ProgressCell::kBytes) / 8>;

// Regions of all ranks, in memory of the test. Remembers in which order words were written.
class Regions final : public RemoteRegions {
 public:
  void put(int, std::size_t, std::span<const std::byte>) override { FAIL() << "boards are written by words"; }
  void get(int, std::size_t, std::span<std::byte>) override { FAIL() << "boards are read locally"; }
  void flush(int) override {}
  [[nodiscard]] bool is_flushed(int) override { return true; }
  void put_words(int target, std::size_t offset, std::span<const std::uint64_t> words) override {
    ASSERT_EQ(offset % 8, 0U);
    for (const std::uint64_t word : words) {
      memories.at(static_cast<std::size_t>(target)).at(offset / 8) = word;
      offset += 8;
    }
    targets.push_back(target);
  }

  std::array<Memory, kRanks> memories{};
  std::vector<int> targets;
};

class BoardTest : public testing::Test {
 protected:
  BoardTest() {
    for (Memory& memory : regions.memories) {
      boards.emplace_back(std::as_writable_bytes(std::span(memory)).subspan(kStart), kStart);
    }
    reset({1}, {0});
  }

  void reset(Generation generation, Epoch base) {
    for (Board& board : boards) board.reset(generation, base);
  }
  static void publish_on(Board& board, Regions& to, int rank, std::uint64_t epoch) {
    constexpr std::array<int, kRanks> kAll{0, 1, 2};
    board.publish(to, kAll, rank, {epoch});
  }
  void publish(int rank, std::uint64_t epoch) {
    publish_on(boards[static_cast<std::size_t>(rank)], regions, rank, epoch);
  }
  // The two words of a rank's entry on the board of rank 0.
  std::uint64_t& word(int rank) { return regions.memories[0][kStart / 8 + static_cast<std::size_t>(rank) * 2]; }
  std::uint64_t& check(int rank) { return (&word(rank))[1]; }

  void expect_all_at(std::uint64_t epoch) {
    for (Board& board : boards) EXPECT_EQ(board.reached_by_first(kRanks), Epoch{epoch});
  }

  Regions regions;
  std::vector<Board> boards;
};

TEST_F(BoardTest, StartsAtItsBase) {
  expect_all_at(0);
  reset({2}, {5});
  expect_all_at(5);
}

TEST_F(BoardTest, HasOneEntryPerRank) { EXPECT_EQ(boards[0].size(), kRanks); }

TEST_F(BoardTest, GoesAsFarAsTheSlowestRank) {
  publish(0, 2);
  publish(1, 3);
  expect_all_at(0);
  publish(2, 1);
  expect_all_at(1);
  publish(2, 4);
  expect_all_at(2);
}

TEST_F(BoardTest, TellsEveryPeerAndNotItself) {
  publish(1, 1);
  for (const int target : regions.targets) EXPECT_NE(target, 1);
  EXPECT_EQ(regions.targets.size(), kRanks - 1U);
}

TEST_F(BoardTest, EpochsKeepAllTheirBits) {
  const std::uint64_t most = (std::uint64_t{1} << 48) - 1;
  for (int rank = 0; rank < kRanks; ++rank) publish(rank, most);
  expect_all_at(most);
}

TEST_F(BoardTest, ProgressOfAnEarlierGenerationDoesNotCount) {
  for (int rank = 0; rank < kRanks; ++rank) publish(rank, 3);
  // What rank 2 wrote before the repair arrives on rank 0 after the reset.
  const auto late_word = word(2);
  const auto late_check = check(2);
  reset({2}, {1});
  publish(0, 2);
  publish(1, 2);
  word(2) = late_word;
  check(2) = late_check;
  EXPECT_EQ(boards[0].reached_by_first(kRanks), Epoch{1});
}

TEST_F(BoardTest, ProgressOfALaterGenerationDoesNotCount) {
  Board late = boards[2];
  late.reset({2}, {0});
  publish_on(late, regions, 2, 9);
  publish(0, 9);
  publish(1, 9);
  EXPECT_EQ(boards[0].reached_by_first(kRanks), Epoch{0});
}

TEST_F(BoardTest, TornWordsDoNotCount) {
  for (int rank = 0; rank < kRanks; ++rank) publish(rank, 1);
  const auto old_word = word(2);
  const auto old_check = check(2);
  publish(0, 0xffff);
  publish(1, 0xffff);
  publish(2, 0xffff);
  const auto new_word = word(2);
  const auto new_check = check(2);

  word(2) = (new_word & 0xff) | (old_word & ~std::uint64_t{0xff});
  EXPECT_EQ(boards[0].reached_by_first(kRanks), Epoch{0}) << "half a word";
  word(2) = new_word;
  check(2) = old_check;
  EXPECT_EQ(boards[0].reached_by_first(kRanks), Epoch{0}) << "without its second word";
  check(2) = new_check;
  EXPECT_EQ(boards[0].reached_by_first(kRanks), Epoch{0xffff});
}

TEST_F(BoardTest, MemoryThatWasNeverWrittenDoesNotCount) {
  word(1) = 0;
  check(1) = 0;
  publish(0, 1);
  publish(2, 1);
  EXPECT_EQ(boards[0].reached_by_first(kRanks), Epoch{0});
}

// A board in another region, which has never been written to, as after the group's memory has grown.
TEST_F(BoardTest, ContinuesWithWhatAnotherOneKnew) {
  reset({4}, {1});
  publish(0, 5);
  publish(1, 3);
  publish(2, 4);
  for (int rank = 0; rank < kRanks; ++rank) {
    Regions others;
    const auto area = std::as_writable_bytes(std::span(others.memories[0])).subspan(kStart);
    Board grown(area, kStart);
    grown.continue_from(boards[static_cast<std::size_t>(rank)]);
    EXPECT_EQ(grown.reached_by_first(kRanks), Epoch{3});
    // The same generation goes on: progress in the new region counts.
    for (const int slow : {1, 2}) {
      publish_on(grown, others, slow, 9);
    }
    EXPECT_EQ(grown.reached_by_first(kRanks), Epoch{5});
    Board before = grown;
    before.reset({3}, {0});
    publish_on(before, others, 0, 9);
    EXPECT_EQ(grown.reached_by_first(kRanks), Epoch{5}) << "of another generation";
  }
}

TEST_F(BoardTest, ContinuesNothingForAnotherNumberOfRanks) {
  reset({1}, {7});
  std::vector<std::uint64_t> memory(2 * 2);
  Board smaller(std::as_writable_bytes(std::span(memory)), 0);
  smaller.continue_from(boards[0]);
  EXPECT_EQ(smaller.reached_by_first(1), Epoch{0});
}

}  // namespace
}  // namespace fenix_impl
