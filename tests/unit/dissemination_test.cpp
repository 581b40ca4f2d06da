// SPDX-License-Identifier: BSD-3-Clause
// What ranks know of each other's commits: how it spreads, what it costs, and what is found out by asking.
#include "core/log/dissemination.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <vector>

namespace fenix_impl {
namespace {

constexpr std::size_t kStart = 128;
constexpr int kFewReads = 2;

// Regions of all ranks, in memory of the test. Counts what is done to them.
class Regions final : public RemoteRegions {
 public:
  explicit Regions(int ranks)
      : memories(static_cast<std::size_t>(ranks),
                 std::vector<std::uint64_t>((kStart + Dissemination::bytes(ranks)) / sizeof(std::uint64_t))) {}

  void put(int, std::size_t, std::span<const std::byte>) override { FAIL() << "it is written by words"; }
  void get(int target, std::size_t offset, std::span<std::byte> data) override {
    std::memcpy(data.data(), memories.at(static_cast<std::size_t>(target)).data() + offset / 8, data.size());
    ++gets;
  }
  void flush(int) override { ++completions; }
  [[nodiscard]] bool is_flushed(int) override { return true; }
  void put_words(int target, std::size_t offset, std::span<const std::uint64_t> words) override {
    for (const std::uint64_t word : words) {
      memories.at(static_cast<std::size_t>(target)).at(offset / 8) = word;
      offset += 8;
    }
    ++puts;
  }
  void forget_counts() { gets = puts = completions = 0; }

  std::vector<std::vector<std::uint64_t>> memories;
  int gets = 0;
  int puts = 0;
  int completions = 0;
};

struct Job {
  explicit Job(int size) : regions(size) {
    for (int rank = 0; rank < size; ++rank) {
      const auto memory = std::as_writable_bytes(std::span(regions.memories[static_cast<std::size_t>(rank)]));
      ranks.emplace_back(memory.subspan(kStart), kStart, rank, size);
    }
    reset({1}, {0});
  }

  void reset(Generation generation, Epoch base) {
    for (Dissemination& rank : ranks) rank.reset(generation, base);
  }
  Dissemination& at(int rank) { return ranks[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] int size() const { return static_cast<int>(ranks.size()); }
  void commit(int rank, std::uint64_t epoch) { at(rank).advance(regions, {epoch}); }
  void commit_all(std::uint64_t epoch) {
    for (int rank = 0; rank < size(); ++rank) commit(rank, epoch);
  }
  // As ranks do that wait in the library.
  void pass_on_all(int times) {
    for (int i = 0; i < times; ++i) {
      for (Dissemination& rank : ranks) rank.pass_on(regions);
    }
  }
  // As a rank does that waits for all to have committed an epoch.
  bool find_out(int rank, std::uint64_t epoch) {
    for (int times = 0; times < size() && at(rank).reached_by_all() < Epoch{epoch}; ++times) {
      const int before = regions.gets;
      (void)at(rank).ask(regions, kFewReads);
      EXPECT_LE(regions.gets - before, kFewReads);
    }
    return at(rank).reached_by_all() >= Epoch{epoch};
  }
  void expect_all_at(std::uint64_t epoch) {
    for (Dissemination& rank : ranks) EXPECT_EQ(rank.reached_by_all(), Epoch{epoch});
  }

  Regions regions;
  std::vector<Dissemination> ranks;
};

class DisseminationOf : public testing::TestWithParam<int> {
 protected:
  const int size = GetParam();
  const int rounds = static_cast<int>(std::bit_width(static_cast<unsigned>(size) - 1));
};

TEST_P(DisseminationOf, StartsAtItsBase) {
  Job job(size);
  job.expect_all_at(0);
  job.reset({2}, {5});
  job.expect_all_at(5);
}

TEST_P(DisseminationOf, AllKnowAfterLogarithmicallyManyRounds) {
  Job job(size);
  job.commit_all(1);
  job.pass_on_all(rounds);
  job.expect_all_at(1);
}

TEST_P(DisseminationOf, NobodyKnowsBeforeTheLastHasCommitted) {
  for (int last = 0; last < size; ++last) {
    Job job(size);
    for (int rank = 0; rank < size; ++rank) job.commit(rank, rank == last ? 1 : 3);
    job.pass_on_all(rounds + 1);
    job.expect_all_at(1);
    job.commit(last, 2);
    job.pass_on_all(rounds + 1);
    job.expect_all_at(2);
  }
}

TEST_P(DisseminationOf, TellsLogarithmicallyManyRanks) {
  Job job(size);
  for (std::uint64_t epoch = 1; epoch <= 3; ++epoch) {
    job.regions.forget_counts();
    job.commit_all(epoch);
    job.pass_on_all(rounds);
    EXPECT_EQ(job.regions.puts, rounds * size) << "each rank tells each of its ranks once";
    EXPECT_EQ(job.regions.completions, rounds * size);
    job.pass_on_all(1);
    EXPECT_EQ(job.regions.puts, rounds * size) << "nothing new to tell";
  }
}

TEST_P(DisseminationOf, FindsOutByAskingWhenNobodyPassesOn) {
  for (int asking = 0; asking < size; ++asking) {
    Job job(size);
    job.commit_all(1);
    EXPECT_TRUE(job.find_out(asking, 1));
    EXPECT_EQ(job.at(asking).reached_by_all(), Epoch{1});
    EXPECT_LE(job.regions.gets, size - 1);
    EXPECT_FALSE(job.at(asking).ask(job.regions, kFewReads)) << "epoch 2 has not been committed";
    EXPECT_EQ(job.at(asking).reached_by_all(), Epoch{1});
  }
}

TEST_P(DisseminationOf, AskingStopsAtWhoHasNotCommitted) {
  if (size == 1) return;
  for (int last = 1; last < size; ++last) {
    Job job(size);
    for (int rank = 0; rank < size; ++rank) {
      if (rank != last) job.commit(rank, 1);
    }
    EXPECT_FALSE(job.find_out(0, 1));
    // It is that rank which is asked again, and no other before it.
    job.regions.forget_counts();
    EXPECT_FALSE(job.at(0).ask(job.regions, kFewReads));
    EXPECT_EQ(job.regions.gets, 1);
    job.commit(last, 1);
    EXPECT_TRUE(job.find_out(0, 1));
    EXPECT_EQ(job.at(0).reached_by_all(), Epoch{1});
  }
}

TEST_P(DisseminationOf, ProgressOfAnotherGenerationDoesNotCount) {
  if (size == 1) return;
  Job job(size);
  Job late(size);
  late.reset({2}, {0});
  for (int rank = 1; rank < size; ++rank) {
    late.at(rank).advance(job.regions, {9});
    late.at(rank).pass_on(job.regions);
  }
  job.commit(0, 9);
  EXPECT_EQ(job.at(0).reached_by_all(), Epoch{0});
  EXPECT_FALSE(job.at(0).ask(job.regions, kFewReads));
}

// Its area in another region, which has never been written to, as after the group's memory has grown.
TEST_P(DisseminationOf, ContinuesWithWhatAnotherOneKnew) {
  Job job(size);
  job.commit_all(4);
  job.pass_on_all(rounds);
  Job grown(size);
  for (Dissemination& rank : grown.ranks) rank.reset({7}, {0});
  for (int rank = 0; rank < size; ++rank) grown.at(rank).continue_from(job.at(rank));
  grown.expect_all_at(4);
  grown.commit_all(5);
  grown.pass_on_all(rounds);
  grown.expect_all_at(5);
}

INSTANTIATE_TEST_SUITE_P(Ranks, DisseminationOf, testing::Values(1, 2, 3, 4, 5, 7, 8, 9, 16, 100));

TEST(Dissemination, TornWordsDoNotCount) {
  Job job(2);
  job.commit(0, 0xffff);
  auto* const words = job.regions.memories[0].data() + kStart / 8 + 2;
  const std::uint64_t old_word = words[0];
  const std::uint64_t old_hash = words[1];
  job.commit(1, 0xffff);
  const std::uint64_t new_word = words[0];
  const std::uint64_t new_hash = words[1];
  words[0] = (new_word & 0xff) | (old_word & ~std::uint64_t{0xff});
  EXPECT_EQ(job.at(0).reached_by_all(), Epoch{0}) << "half a word";
  // Halves of both words that belong together, as one that was its complement would seem to.
  words[1] = (new_hash & 0xff) | (old_hash & ~std::uint64_t{0xff});
  EXPECT_EQ(job.at(0).reached_by_all(), Epoch{0}) << "half of both words";
  words[0] = new_word;
  words[1] = old_hash;
  EXPECT_EQ(job.at(0).reached_by_all(), Epoch{0}) << "without its hash";
  words[1] = new_hash;
  EXPECT_EQ(job.at(0).reached_by_all(), Epoch{0xffff});
}

TEST(Dissemination, TakesSixteenBytesForEachRound) {
  EXPECT_EQ(Dissemination::bytes(1), 16U);
  EXPECT_EQ(Dissemination::bytes(2), 32U);
  EXPECT_EQ(Dissemination::bytes(1024), 176U);
  EXPECT_EQ(Dissemination::bytes(1025), 192U);
}

}  // namespace
}  // namespace fenix_impl
