// SPDX-License-Identifier: BSD-3-Clause
#include "parity/stripes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <tuple>
#include <vector>

namespace fenix_impl {
namespace {

constexpr int kMostRanks = 9;

template <class Check>
void for_all(Check&& check) {
  for (int ranks = 1; ranks <= kMostRanks; ++ranks) {
    for (int parity = 0; parity <= std::min(4, ranks - 1); ++parity) {
      SCOPED_TRACE(testing::Message() << ranks << " ranks, " << parity << " parities");
      check(ranks, parity);
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(Stripes, PositionsAndCellsAreInverses) {
  for_all([](int ranks, int parity) {
    const Stripes stripes(ranks, parity, 64);
    for (int rank = 0; rank < ranks; ++rank) {
      for (const bool is_parity : {false, true}) {
        if (is_parity && parity == 0) continue;
        for (std::uint64_t unit = 0; unit < 40; ++unit) {
          const auto position = stripes.position(rank, is_parity, unit);
          EXPECT_EQ(position.number >= stripes.data(), is_parity);
          const auto cell = stripes.cell(position);
          EXPECT_EQ(cell.rank, rank);
          EXPECT_EQ(cell.is_parity, is_parity);
          EXPECT_EQ(cell.offset, unit * 64);
        }
      }
    }
    for (std::uint64_t stripe = 0; stripe < 3; ++stripe) {
      for (int row = 0; row < ranks; ++row) {
        for (int number = 0; number < ranks; ++number) {
          const auto cell = stripes.cell({stripe, row, number});
          const auto back = stripes.position(cell.rank, cell.is_parity, cell.offset / 64);
          EXPECT_EQ(back.stripe, stripe);
          EXPECT_EQ(back.row, row);
          EXPECT_EQ(back.number, number);
        }
      }
    }
  });
}

TEST(Stripes, EachUnitIsInOneCodewordAndEachCodewordHasOneOfEachRank) {
  for_all([](int ranks, int parity) {
    constexpr int kStripes = 4;
    const Stripes stripes(ranks, parity, 1);
    std::map<std::pair<std::uint64_t, int>, std::set<int>> ranks_of;
    std::set<std::tuple<std::uint64_t, int, int>> positions;
    for (int rank = 0; rank < ranks; ++rank) {
      for (const bool is_parity : {false, true}) {
        const int units = kStripes * (is_parity ? parity : stripes.data());
        for (int unit = 0; unit < units; ++unit) {
          const auto at = stripes.position(rank, is_parity, static_cast<std::uint64_t>(unit));
          EXPECT_LT(at.stripe, static_cast<std::uint64_t>(kStripes));
          EXPECT_TRUE(at.row >= 0 && at.row < ranks && at.number >= 0 && at.number < ranks);
          EXPECT_TRUE(positions.insert({at.stripe, at.row, at.number}).second) << "two units in one place";
          EXPECT_TRUE(ranks_of[std::pair(at.stripe, at.row)].insert(rank).second) << "a codeword has a rank twice";
        }
      }
    }
    EXPECT_EQ(positions.size(), static_cast<std::size_t>(kStripes * ranks * ranks));
  });
}

// Each rank has the same share of each parity.
TEST(Stripes, SpreadParityEvenly) {
  for_all([](int ranks, int parity) {
    const Stripes stripes(ranks, parity, 1);
    std::map<std::pair<int, int>, int> seen;  // rank and number
    for (int row = 0; row < ranks; ++row) {
      for (int number = stripes.data(); number < ranks; ++number) {
        ++seen[std::pair(stripes.cell({0, row, number}).rank, number)];
      }
    }
    EXPECT_EQ(seen.size(), static_cast<std::size_t>(ranks * parity));
    for (const auto& [who, times] : seen) EXPECT_EQ(times, 1) << "rank " << who.first << " number " << who.second;
  });
}

TEST(Stripes, ParityIsAsLongAsTheStripesOfTheData) {
  for_all([](int ranks, int parity) {
    for (const std::uint64_t unit : {1U, 7U, 64U}) {
      const Stripes stripes(ranks, parity, unit);
      for (std::uint64_t bytes = 0; bytes < 5 * unit * static_cast<std::uint64_t>(stripes.data()); ++bytes) {
        const std::uint64_t parity_bytes = stripes.parity_bytes(bytes);
        const std::uint64_t of_stripe = unit * static_cast<std::uint64_t>(parity);
        ASSERT_EQ(parity_bytes % std::max<std::uint64_t>(of_stripe, 1), 0U);
        if (parity == 0) continue;
        // Enough, and not a stripe more than needed.
        const std::uint64_t of_data = unit * static_cast<std::uint64_t>(stripes.data());
        const std::uint64_t count = parity_bytes / of_stripe;
        ASSERT_GE(count * of_data, bytes);
        ASSERT_LT(count * of_data, bytes + of_data);
      }
    }
  });
}

/// Bytes of the parity of keeper that have a byte of rank's data in their codeword, one by one.
std::set<std::uint64_t> dependent(const Stripes& stripes, int keeper, int rank, const IntervalSet& bytes) {
  std::set<std::uint64_t> found;
  for (const Interval& each : bytes.intervals()) {
    for (std::uint64_t byte = each.first; byte < each.end; ++byte) {
      const auto at = stripes.position(rank, false, byte / stripes.unit());
      for (int number = stripes.data(); number < stripes.ranks(); ++number) {
        const auto cell = stripes.cell({at.stripe, at.row, number});
        if (cell.rank == keeper) found.insert(cell.offset + byte % stripes.unit());
      }
    }
  }
  return found;
}

TEST(Stripes, TellWhichParityDependsOnWhichData) {
  std::mt19937 random(7);
  for_all([&](int ranks, int parity) {
    for (const std::uint64_t unit : {1U, 5U, 64U}) {
      const Stripes stripes(ranks, parity, unit);
      const std::uint64_t of_data = unit * static_cast<std::uint64_t>(stripes.data());
      const std::uint64_t all = 4 * of_data;
      const auto parity_of_stripe = unit * static_cast<std::uint64_t>(parity);
      for (int round = 0; round < 12; ++round) {
        std::vector<Interval> parts;
        for (unsigned i = 0; i <= random() % 3; ++i) {
          const std::uint64_t first = random() % all;
          const std::uint64_t most = round % 3 == 0 ? all : unit + 1;
          parts.push_back({first, std::min(all, first + 1 + random() % most)});
        }
        const auto bytes = IntervalSet::of(parts);
        for (int rank = 0; rank < ranks; ++rank) {
          for (int keeper = 0; keeper < ranks; ++keeper) {
            const auto told = stripes.parity_of(keeper, rank, bytes);
            const auto right = dependent(stripes, keeper, rank, bytes);
            for (const std::uint64_t byte : right) ASSERT_TRUE(told.covers(byte, byte + 1)) << "byte " << byte;
            ASSERT_LE(told.end(), stripes.parity_bytes(all));
            // Whole stripes are told as a whole; else it is no byte more than needed.
            std::set<std::uint64_t> stripes_touched;
            for (const Interval& each : bytes.intervals()) {
              for (std::uint64_t stripe = (each.first + of_data - 1) / of_data; stripe < each.end / of_data; ++stripe) {
                stripes_touched.insert(stripe);
              }
            }
            for (const Interval& each : told.intervals()) {
              for (std::uint64_t byte = each.first; byte < each.end; ++byte) {
                ASSERT_TRUE(right.count(byte) == 1 || stripes_touched.count(byte / parity_of_stripe) == 1)
                    << "byte " << byte << " of " << keeper << " does not depend on " << rank;
              }
            }
          }
        }
      }
    }
  });
}

// Exactly what may change with part of a stripe, for plain parity.
TEST(Stripes, OneByteTouchesOneByteOfEachParity) {
  for_all([](int ranks, int parity) {
    const Stripes stripes(ranks, parity, 16);
    for (std::uint64_t byte = 0; byte < 200; byte += 3) {
      for (int rank = 0; rank < ranks; ++rank) {
        std::uint64_t touched = 0;
        for (int keeper = 0; keeper < ranks; ++keeper) {
          const auto told = stripes.parity_of(keeper, rank, {byte, byte + 1});
          EXPECT_TRUE(keeper != rank || told.empty() || stripes.data() == 1) << "no rank protects its own data";
          touched += keeper != rank ? told.count() : 0;
        }
        if (stripes.data() > 1) {
          EXPECT_EQ(touched, static_cast<std::uint64_t>(parity));
        }
      }
    }
  });
}

TEST(Stripes, DoNotMoveWhenDataGrows) {
  for_all([](int ranks, int parity) {
    const std::uint64_t unit = Stripes::unit_for(100, ranks - parity, true);
    EXPECT_EQ(Stripes::unit_for(0, ranks - parity, true), unit);
    EXPECT_EQ(Stripes::unit_for(std::uint64_t{1} << 40, ranks - parity, true), unit);
    const Stripes stripes(ranks, parity, unit);
    for (std::uint64_t bytes = 0; bytes < 20 * unit; bytes += unit / 2 + 1) {
      EXPECT_LE(stripes.parity_bytes(bytes), stripes.parity_bytes(bytes + 1));
    }
  });
}

TEST(Stripes, UnitsFitSmallAndLargeData) {
  EXPECT_EQ(Stripes::unit_for(0, 3, false), 64U);
  EXPECT_EQ(Stripes::unit_for(4, 3, false), 64U);
  EXPECT_EQ(Stripes::unit_for(192, 3, false), 64U);
  EXPECT_EQ(Stripes::unit_for(193, 3, false), 128U);
  EXPECT_EQ(Stripes::unit_for(1 << 20, 1, false), 32U << 10);
  EXPECT_EQ(Stripes::unit_for(~std::uint64_t{0}, 2, false), 32U << 10);
}

}  // namespace
}  // namespace fenix_impl
