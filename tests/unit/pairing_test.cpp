// SPDX-License-Identifier: BSD-3-Clause
// Who protects whom: every rank is protected by another one, for all sizes and separations.
#include "parity/pairing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace fenix_impl {
namespace {

using Pairs = std::vector<std::pair<int, int>>;

// Ranks that keep each other's copy, the lower one first.
Pairs pairs(const Pairing& pairing) {
  Pairs found;
  for (int rank = 0; rank < pairing.size(); ++rank) {
    const int holder = pairing.holder_of(rank);
    if (rank < holder && pairing.holder_of(holder) == rank) found.emplace_back(rank, holder);
  }
  return found;
}

void expect_chain(const Pairing& pairing, int first, int middle, int last) {
  EXPECT_EQ(pairing.holder_of(first), middle);
  EXPECT_EQ(pairing.holder_of(middle), last);
  EXPECT_EQ(pairing.holder_of(last), first);
}

template <class Check>
void for_all(Check check) {
  for (int size = 1; size <= 65; ++size) {
    for (int separation = 1; separation < std::max(size, 2); ++separation) {
      SCOPED_TRACE(testing::Message() << "size " << size << ", separation " << separation);
      check(Pairing(size, separation));
    }
  }
}

TEST(Pairing, HolderAndHeldAreInverse) {
  for_all([](const Pairing& pairing) {
    for (int rank = 0; rank < pairing.size(); ++rank) {
      EXPECT_EQ(pairing.held_by(pairing.holder_of(rank)), rank);
      EXPECT_EQ(pairing.holder_of(pairing.held_by(rank)), rank);
    }
  });
}

TEST(Pairing, NobodyHoldsItselfButALoneRank) {
  for_all([](const Pairing& pairing) {
    for (int rank = 0; rank < pairing.size(); ++rank) {
      EXPECT_EQ(pairing.holder_of(rank) == rank, pairing.size() == 1) << rank;
    }
  });
}

TEST(Pairing, EvenSizesHavePairsOnly) {
  for_all([](const Pairing& pairing) {
    if (pairing.size() % 2 != 0) return;
    EXPECT_EQ(pairs(pairing).size(), static_cast<std::size_t>(pairing.size() / 2));
  });
}

TEST(Pairing, OddSizesHaveOneChainOfFirstMiddleAndLast) {
  for_all([](const Pairing& pairing) {
    const int size = pairing.size();
    if (size % 2 == 0 || size == 1) return;
    expect_chain(pairing, 0, size / 2, size - 1);
    EXPECT_EQ(pairs(pairing).size(), static_cast<std::size_t>((size - 3) / 2));
  });
}

TEST(Pairing, FourRanks) {
  EXPECT_EQ(pairs(Pairing(4, 1)), (Pairs{{0, 1}, {2, 3}}));
  EXPECT_EQ(pairs(Pairing(4, 2)), (Pairs{{0, 2}, {1, 3}}));
}

TEST(Pairing, RestThatIsSmallerThanABlockIsPairedAcrossItsHalf) {
  EXPECT_EQ(pairs(Pairing(6, 2)), (Pairs{{0, 2}, {1, 3}, {4, 5}}));
  EXPECT_EQ(pairs(Pairing(10, 3)), (Pairs{{0, 3}, {1, 4}, {2, 5}, {6, 8}, {7, 9}}));
}

TEST(Pairing, ThreeRanksAreAChain) {
  for (const int separation : {1, 2}) expect_chain(Pairing(3, separation), 0, 1, 2);
}

TEST(Pairing, FiveRanksAreAChainAndAPair) {
  for (const int separation : {1, 2, 3, 4}) {
    const Pairing pairing(5, separation);
    expect_chain(pairing, 0, 2, 4);
    EXPECT_EQ(pairs(pairing), (Pairs{{1, 3}}));
  }
}

TEST(Pairing, SevenRanksPairThoseOutsideOfTheChain) {
  expect_chain(Pairing(7, 1), 0, 3, 6);
  EXPECT_EQ(pairs(Pairing(7, 1)), (Pairs{{1, 2}, {4, 5}}));
  EXPECT_EQ(pairs(Pairing(7, 2)), (Pairs{{1, 4}, {2, 5}}));
}

TEST(Pairing, SeparationBeyondHalfIsTakenAsHalf) {
  for (const int separation : {2, 3}) EXPECT_EQ(pairs(Pairing(4, separation)), (Pairs{{0, 2}, {1, 3}}));
  for (int separation = 4; separation < 8; ++separation) {
    EXPECT_EQ(pairs(Pairing(8, separation)), (Pairs{{0, 4}, {1, 5}, {2, 6}, {3, 7}}));
  }
}

TEST(Pairing, LoneRankHasNobody) {
  const Pairing pairing(1, 1);
  EXPECT_EQ(pairing.holder_of(0), 0);
  EXPECT_EQ(pairing.held_by(0), 0);
}

}  // namespace
}  // namespace fenix_impl
