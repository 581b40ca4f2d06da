// SPDX-License-Identifier: BSD-3-Clause
// The path within a node: regions of peers are reached by loads and stores.
#include "rma/map_path.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "support/group_data.hpp"

namespace fenix_test {
namespace {

using fenix_impl::Error;
using fenix_impl::MapPath;
using fenix_impl::Region;
using fenix_impl::Team;

constexpr std::size_t kMappedBytes = 10000;
using Bytes = std::array<std::byte, 16>;

Bytes filled(int value) {
  Bytes bytes;
  bytes.fill(static_cast<std::byte>(value));
  return bytes;
}

TEST(MapPath, WhatIsPutIsInTheMemoryOfTheTarget) {
  Job job(3);
  job.run([](Rank& rank) {
    const Region region(kMappedBytes);
    const auto peers = MapPath().expose(*rank.team, region);
    // Each rank writes to all, itself included, and leaves its mark in a place of its own.
    for (int target = 0; target < 3; ++target) {
      peers->put(target, 100 + 16 * static_cast<std::size_t>(rank.number), filled(10 * rank.number + target));
      peers->flush(target);
      peers->put_word(target, 200 + 8 * static_cast<std::size_t>(rank.number), 7);
    }
    rank.team->barrier();
    for (std::size_t from = 0; from < 3; ++from) {
      const Bytes expected = filled(10 * static_cast<int>(from) + rank.number);
      EXPECT_EQ(std::memcmp(region.bytes().data() + 100 + 16 * from, expected.data(), expected.size()), 0);
      std::uint64_t word = 0;
      std::memcpy(&word, region.bytes().data() + 200 + 8 * from, sizeof word);
      EXPECT_EQ(word, 7U);
    }
    for (int target = 0; target < 3; ++target) {
      Bytes got = filled(99);
      peers->get(target, 100 + 16, got);
      EXPECT_EQ(got, filled(10 + target));
    }
    rank.team->barrier();
  });
}

// A put is there at once: nothing is under way that could be waited for, or come late.
TEST(MapPath, PutsAreFlushedAtOnce) {
  EXPECT_TRUE(MapPath().puts_are_copies(0));
  Job job(2);
  job.run([](Rank& rank) {
    const Region region(kMappedBytes);
    const auto peers = MapPath().expose(*rank.team, region);
    const int other = 1 - rank.number;
    EXPECT_TRUE(peers->is_flushed(other));
    Bytes bytes = filled(5 + rank.number);
    peers->put(other, 100, bytes);
    EXPECT_TRUE(peers->is_flushed(other));
    bytes = filled(99);  // was copied
    rank.team->barrier();
    EXPECT_EQ(region.bytes()[100], static_cast<std::byte>(5 + other));
    EXPECT_EQ(region.bytes()[115], static_cast<std::byte>(5 + other));
    rank.team->barrier();
  });
}

TEST(MapPath, AccessBeyondARegionIsRefused) {
  Job job(2);
  job.run([](Rank& rank) {
    const Region region(kMappedBytes + 1000 * static_cast<std::size_t>(rank.number));
    const auto peers = MapPath().expose(*rank.team, region);
    const std::size_t end = kMappedBytes + Region::kHeaderBytes;
    Bytes bytes = filled(1);
    EXPECT_NO_THROW(peers->put(0, end - 16, bytes));
    EXPECT_NO_THROW(peers->put(0, end, std::span(bytes).first(0)));
    EXPECT_NO_THROW(peers->put(1, end - 15, bytes)) << "the other region is larger";
    EXPECT_THROW(peers->put(0, end - 15, bytes), Error);
    EXPECT_THROW(peers->get(0, end - 15, bytes), Error);
    EXPECT_THROW(peers->put_word(0, end, 1), Error);
    EXPECT_THROW(peers->put(0, ~std::size_t{0}, bytes), Error);
    rank.team->barrier();
  });
}

// Rank 1 dies. Rank 0 reads from its memory then; it may have reached it before.
std::vector<Outcome> read_from_dead_rank(bool has_reached_it) {
  Job job(2);
  job.doom(1, 5);
  std::atomic<bool> gone = false;
  return job.run([&](Rank& rank) {
    if (rank.number == 1) {
      try {
        const Region region(kMappedBytes);
        region.bytes()[500] = std::byte{42};
        const auto peers = MapPath().expose(*rank.team, region);
        rank.team->barrier();
      } catch (const Death&) {
        gone = true;
        throw;
      }
      return;
    }
    const Region region(kMappedBytes);
    const auto peers = MapPath().expose(*rank.team, region);
    if (has_reached_it) peers->reach(1);
    rank.team->barrier();
    while (!gone) std::this_thread::yield();
    Bytes got;
    peers->get(1, 500, got);
    EXPECT_EQ(got[0], std::byte{42});
  });
}

TEST(MapPath, MemoryOfADeadRankStaysReachable) {
  const auto outcomes = read_from_dead_rank(true);
  EXPECT_EQ(outcomes[0].ending, Ending::done) << outcomes[0];
  EXPECT_EQ(outcomes[1].ending, Ending::died) << outcomes[1];
}

// There is nothing left of it: the death is a failure to be repaired, as on other paths.
TEST(MapPath, FirstAccessToADeadRankIsAFailure) {
  const auto outcomes = read_from_dead_rank(false);
  EXPECT_EQ(outcomes[0].ending, Ending::failure_seen) << outcomes[0];
  EXPECT_EQ(outcomes[1].ending, Ending::died) << outcomes[1];
}

// Its descriptor names another region by now: the key says so.
TEST(MapPath, RegionThatALivingRankHasGivenUpIsAnError) {
  Job job(2);
  expect_done(job.run([](Rank& rank) {
    auto region = std::make_unique<Region>(kMappedBytes);
    auto peers = MapPath().expose(*rank.team, *region);
    rank.team->barrier();
    if (rank.number == 1) {
      peers.reset();
      *region = Region();
      *region = Region(kMappedBytes);
    }
    rank.team->barrier();
    Bytes got = filled(99);
    if (rank.number == 0) {
      EXPECT_THROW(peers->get(1, 500, got), Error);
      EXPECT_EQ(got, filled(99));
    }
    rank.team->barrier();
  }));
}

// A team on which this rank is late: after each collective call it waits.
class LateTeam final : public Team {
 public:
  LateTeam(Team& team, const std::atomic<bool>& end_of_wait) : team_(team), end_of_wait_(end_of_wait) {}

  [[nodiscard]] int rank() const override { return team_.rank(); }
  [[nodiscard]] int size() const override { return team_.size(); }
  void check() override { team_.check(); }
  void dissolve() noexcept override { team_.dissolve(); }
  void withdraw() noexcept override { team_.withdraw(); }
  void allgather(std::span<const std::byte> mine, std::span<std::byte> all) override {
    team_.allgather(mine, all);
    while (!end_of_wait_) std::this_thread::yield();
  }
  void broadcast(std::span<std::byte> data, int root) override { team_.broadcast(data, root); }

 private:
  Team& team_;
  const std::atomic<bool>& end_of_wait_;
};

// A peer dies after it has told where its region is: that is a failure to be repaired, no lack of memory.
TEST(MapPath, PeerWhoseRegionIsGoneHasFailed) {
  Job job(2);
  job.doom(1, 2);
  std::atomic<bool> gone = false;
  const auto outcomes = job.run([&](Rank& rank) {
    if (rank.number == 1) {
      try {
        const Region region(kMappedBytes);
        (void)MapPath().expose(*rank.team, region);
      } catch (const Death&) {
        gone = true;
        throw;
      }
      return;
    }
    const Region region(kMappedBytes);
    LateTeam late(*rank.team, gone);
    MapPath().expose(late, region)->reach(1);
  });
  EXPECT_EQ(outcomes[1].ending, Ending::died) << outcomes[1];
  EXPECT_EQ(outcomes[0].ending, Ending::failure_seen) << outcomes[0];
}

}  // namespace
}  // namespace fenix_test
