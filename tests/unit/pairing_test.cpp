// SPDX-License-Identifier: BSD-3-Clause
// Pairing: every rank is protected by another one, for all sizes and separations.
#include "parity/pairing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace fenix_impl {
namespace {

using Pairs = std::vector<std::pair<int, int>>;

Pairing buddies(int size, int separation) { return {{Policy::Kind::buddies, separation}, size}; }
Pairing ring(int size, int separation) { return {{Policy::Kind::ring, separation}, size}; }

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

template <class Make, class Check>
void for_all_made_by(Make make, Check check) {
  for (int size = 1; size <= 65; ++size) {
    for (int separation = 1; separation < std::max(size, 2); ++separation) {
      SCOPED_TRACE(testing::Message() << "size " << size << ", separation " << separation);
      check(make(size, separation), separation);
    }
  }
}

template <class Check>
void for_all_buddies(Check check) {
  for_all_made_by(buddies, [&](const Pairing& pairing, int) { check(pairing); });
}

// Under all policies.
template <class Check>
void for_all_pairings(Check check) {
  for_all_buddies(check);
  for_all_made_by(ring, [&](const Pairing& pairing, int) { check(pairing); });
}

TEST(Pairing, HolderAndHeldAreInverse) {
  for_all_pairings([](const Pairing& pairing) {
    for (int rank = 0; rank < pairing.size(); ++rank) {
      EXPECT_EQ(pairing.held_by(pairing.holder_of(rank)), rank);
      EXPECT_EQ(pairing.holder_of(pairing.held_by(rank)), rank);
    }
  });
}

TEST(Pairing, NobodyHoldsItselfButALoneRank) {
  for_all_pairings([](const Pairing& pairing) {
    for (int rank = 0; rank < pairing.size(); ++rank) {
      EXPECT_EQ(pairing.holder_of(rank) == rank, pairing.size() == 1) << rank;
    }
  });
}

TEST(Buddies, EvenSizesHavePairsOnly) {
  for_all_buddies([](const Pairing& pairing) {
    if (pairing.size() % 2 != 0) return;
    EXPECT_EQ(pairs(pairing).size(), static_cast<std::size_t>(pairing.size() / 2));
  });
}

TEST(Buddies, OddSizesHaveOneChainOfFirstMiddleAndLast) {
  for_all_buddies([](const Pairing& pairing) {
    const int size = pairing.size();
    if (size % 2 == 0 || size == 1) return;
    expect_chain(pairing, 0, size / 2, size - 1);
    EXPECT_EQ(pairs(pairing).size(), static_cast<std::size_t>((size - 3) / 2));
  });
}

TEST(Buddies, FourRanks) {
  EXPECT_EQ(pairs(buddies(4, 1)), (Pairs{{0, 1}, {2, 3}}));
  EXPECT_EQ(pairs(buddies(4, 2)), (Pairs{{0, 2}, {1, 3}}));
}

TEST(Buddies, RestThatIsSmallerThanABlockIsPairedAcrossItsHalf) {
  EXPECT_EQ(pairs(buddies(6, 2)), (Pairs{{0, 2}, {1, 3}, {4, 5}}));
  EXPECT_EQ(pairs(buddies(10, 3)), (Pairs{{0, 3}, {1, 4}, {2, 5}, {6, 8}, {7, 9}}));
}

TEST(Buddies, ThreeRanksAreAChain) {
  for (const int separation : {1, 2}) expect_chain(buddies(3, separation), 0, 1, 2);
}

TEST(Buddies, FiveRanksAreAChainAndAPair) {
  for (const int separation : {1, 2, 3, 4}) {
    const Pairing pairing = buddies(5, separation);
    expect_chain(pairing, 0, 2, 4);
    EXPECT_EQ(pairs(pairing), (Pairs{{1, 3}}));
  }
}

TEST(Buddies, SevenRanksPairThoseOutsideOfTheChain) {
  expect_chain(buddies(7, 1), 0, 3, 6);
  EXPECT_EQ(pairs(buddies(7, 1)), (Pairs{{1, 2}, {4, 5}}));
  EXPECT_EQ(pairs(buddies(7, 2)), (Pairs{{1, 4}, {2, 5}}));
}

TEST(Buddies, SeparationBeyondHalfIsTakenAsHalf) {
  for (const int separation : {2, 3}) EXPECT_EQ(pairs(buddies(4, separation)), (Pairs{{0, 2}, {1, 3}}));
  for (int separation = 4; separation < 8; ++separation) {
    EXPECT_EQ(pairs(buddies(8, separation)), (Pairs{{0, 4}, {1, 5}, {2, 6}, {3, 7}}));
  }
}

TEST(Ring, RankIsHeldByTheOneThatIsSeparationFurtherOn) {
  for_all_made_by(ring, [](const Pairing& pairing, int separation) {
    for (int rank = 0; rank < pairing.size(); ++rank) {
      EXPECT_EQ(pairing.holder_of(rank), pairing.size() == 1 ? rank : (rank + separation) % pairing.size()) << rank;
    }
  });
}

TEST(Ring, FiveRanks) {
  const Pairing pairing = ring(5, 2);
  const int holders[] = {2, 3, 4, 0, 1};
  const int held[] = {3, 4, 0, 1, 2};
  for (int rank = 0; rank < 5; ++rank) {
    EXPECT_EQ(pairing.holder_of(rank), holders[rank]);
    EXPECT_EQ(pairing.held_by(rank), held[rank]);
  }
}

TEST(Ring, SeparationThatIsTooLargeIsTakenAsTheLargest) {
  for (const int separation : {4, 5, 6, 100}) {
    for (int rank = 0; rank < 4; ++rank) EXPECT_EQ(ring(4, separation).holder_of(rank), (rank + 3) % 4) << separation;
  }
}

TEST(Pairing, SeparationThatIsTooSmallIsTakenAsOne) {
  for (const int separation : {0, -1, -100}) {
    for (int rank = 0; rank < 4; ++rank) {
      EXPECT_EQ(ring(4, separation).holder_of(rank), ring(4, 1).holder_of(rank));
      EXPECT_EQ(buddies(4, separation).holder_of(rank), buddies(4, 1).holder_of(rank));
    }
  }
}

TEST(Pairing, LoneRankHasNobody) {
  for (const Pairing& pairing : {buddies(1, 1), ring(1, 1), buddies(1, 3), ring(1, 3)}) {
    EXPECT_EQ(pairing.holder_of(0), 0);
    EXPECT_EQ(pairing.held_by(0), 0);
  }
}

TEST(Pairing, OfNoRanksIsEmpty) {
  EXPECT_EQ(buddies(0, 1).size(), 0);
  EXPECT_EQ(ring(0, 1).size(), 0);
}

// Numbers that ranks compare with each other: they are never changed.
TEST(Policy, KindsHaveTheirNumbers) {
  EXPECT_EQ(static_cast<int>(Policy::Kind::buddies), 1);
  EXPECT_EQ(static_cast<int>(Policy::Kind::ring), 2);
}

}  // namespace
}  // namespace fenix_impl
