// SPDX-License-Identifier: BSD-3-Clause
// Regions that ranks have exposed are given back when all of them say so, and not before.
#include "rma/exposures.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/pages.hpp"
#include "support/simulated_job.hpp"

namespace fenix_impl {
namespace {

using ExposedNumbers = std::vector<std::uint32_t>;

constexpr std::size_t kExposedBytes = 50000;
constexpr int kExposingRanks = 3;

/// The holds of a rank that has exposed regions, and has given these up itself.
struct KeptRegions {
  std::vector<std::span<std::byte>> bytes;
  Exposures exposures;

  explicit KeptRegions(std::uint32_t count) {
    for (std::uint32_t number = 0; number < count; ++number) {
      const Region region(kExposedBytes);
      exposures.add(number, region);
      bytes.push_back(region.bytes());
      bytes.back()[5000] = std::byte{1};
    }
  }

  /// Returns what has been given back. not_over: the number of which this rank says that a transfer is under way.
  ExposedNumbers give_back(Team& team, std::optional<std::uint32_t> not_over = std::nullopt) {
    ExposedNumbers dropped;
    exposures.give_back(
        team, [&](std::uint32_t number) { return number != not_over; },
        [&](std::uint32_t number) { dropped.push_back(number); });
    return dropped;
  }

  [[nodiscard]] bool mapped(std::uint32_t number) const {
    std::vector<unsigned char> pages(to_pages(bytes[number].size()) / kPage);
    return mincore(bytes[number].data(), bytes[number].size(), pages.data()) == 0;
  }
};

TEST(Exposures, AreGivenBackWhenAllRanksHaveClosedThem) {
  fenix_test::Job job(kExposingRanks);
  job.run([](fenix_test::Rank& rank) {
    KeptRegions kept(4);
    EXPECT_FALSE(kept.exposures.some_are_closed());
    EXPECT_EQ(kept.give_back(*rank.team), ExposedNumbers{});
    // 0: by all; 1: not by the last one; 2: by one only; 3: by nobody.
    kept.exposures.close(0);
    if (rank.number < 2) kept.exposures.close(1);
    if (rank.number == 1) kept.exposures.close(2);
    EXPECT_TRUE(kept.exposures.some_are_closed());
    EXPECT_EQ(kept.give_back(*rank.team), ExposedNumbers{0});
    rank.team->barrier();
    EXPECT_EQ(kept.bytes[1][5000], std::byte{1});
    EXPECT_EQ(kept.bytes[2][5000], std::byte{1});
    EXPECT_EQ(kept.bytes[3][5000], std::byte{1});
    for (const std::uint32_t number : {1U, 2U}) kept.exposures.close(number);
    EXPECT_EQ(kept.give_back(*rank.team), (ExposedNumbers{1, 2}));
    EXPECT_EQ(kept.bytes[3][5000], std::byte{1});
    EXPECT_FALSE(kept.exposures.some_are_closed());
    rank.team->barrier();
  });
}

// Ranks are threads of one process: another one may map something where this one has unmapped, so only what stays can be seen.
TEST(Exposures, StayMappedWhereATransferIsUnderWay) {
  fenix_test::Job job(kExposingRanks);
  job.run([](fenix_test::Rank& rank) {
    KeptRegions kept(2);
    kept.exposures.close(0);
    kept.exposures.close(1);
    const auto not_over = rank.number == 2 ? std::optional<std::uint32_t>(1) : std::nullopt;
    EXPECT_EQ(kept.give_back(*rank.team, not_over), (ExposedNumbers{0, 1}));
    EXPECT_TRUE(kept.mapped(1));
    EXPECT_EQ(kept.bytes[1][5000], std::byte{0}) << "its memory has not been given back";
    rank.team->barrier();
  });
}

TEST(Exposures, OfOneRankAreUnmapped) {
  fenix_test::Job job(1);
  job.run([](fenix_test::Rank& rank) {
    KeptRegions kept(3);
    kept.exposures.close(0);
    EXPECT_EQ(kept.give_back(*rank.team), ExposedNumbers{0});
    EXPECT_FALSE(kept.mapped(0));
    kept.exposures.forget(1);
    EXPECT_FALSE(kept.mapped(1));
    EXPECT_TRUE(kept.mapped(2));
  });
}

}  // namespace
}  // namespace fenix_impl
