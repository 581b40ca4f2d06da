// SPDX-License-Identifier: BSD-3-Clause
#include "parity/placement.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "parity/pairing.hpp"

namespace fenix_impl {
namespace {

constexpr int kMostRanks = 40;

using RedundancySets = std::vector<std::vector<int>>;

bool contains(const std::vector<int>& ranks, int rank) { return std::binary_search(ranks.begin(), ranks.end(), rank); }

/// For all numbers of ranks, separations and sizes of redundancy sets that the API lets through, and some more.
template <class Check>
void for_all_sets(Check&& check) {
  for (int ranks = 1; ranks <= kMostRanks; ++ranks) {
    for (const int separation : {1, 2, 3, 4, 5, 7, 11, 16, 20, 39}) {
      for (int size = 2; size <= std::min(ranks + 2, 17); ++size) {
        SCOPED_TRACE(testing::Message() << ranks << " ranks, separation " << separation << ", cohorts of " << size);
        check(ranks, separation, size);
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

TEST(Cohorts, HaveEachRankOnce) {
  for_all_sets([](int ranks, int separation, int size) {
    std::vector<int> all;
    for (const auto& redundancy_set : redundancy_sets_of(ranks, separation, size)) {
      EXPECT_TRUE(std::is_sorted(redundancy_set.begin(), redundancy_set.end()));
      all.insert(all.end(), redundancy_set.begin(), redundancy_set.end());
    }
    std::sort(all.begin(), all.end());
    ASSERT_EQ(all.size(), static_cast<std::size_t>(ranks));
    for (int rank = 0; rank < ranks; ++rank) EXPECT_EQ(all[static_cast<std::size_t>(rank)], rank);
  });
}

TEST(Cohorts, AreAsLargeAsWantedButNotTwice) {
  for_all_sets([](int ranks, int separation, int size) {
    const auto redundancy_sets = redundancy_sets_of(ranks, separation, size);
    EXPECT_EQ(redundancy_sets.size(), static_cast<std::size_t>(std::max(ranks / size, 1)));
    for (const auto& redundancy_set : redundancy_sets) {
      EXPECT_GE(static_cast<int>(redundancy_set.size()), std::min(ranks, size));
      EXPECT_LT(static_cast<int>(redundancy_set.size()), 2 * size);
    }
  });
}

// As many ranks as fill blocks of separation redundancy sets are in such blocks; the rest is as far apart as it can be.
TEST(Cohorts, KeepTheSeparationInBlocks) {
  for_all_sets([](int ranks, int separation, int size) {
    const auto redundancy_sets = redundancy_sets_of(ranks, separation, size);
    const auto in_blocks = static_cast<std::size_t>(ranks / (separation * size) * separation);
    for (std::size_t number = 0; number < redundancy_sets.size() && ranks >= size; ++number) {
      const auto& redundancy_set = redundancy_sets[number];
      const int left = ranks - static_cast<int>(in_blocks) * size;
      const int apart = number < in_blocks ? separation : left / size;
      ASSERT_GE(redundancy_set.size(), static_cast<std::size_t>(size));
      for (int i = 1; i < size; ++i) {
        const auto place = static_cast<std::size_t>(i);
        EXPECT_EQ(redundancy_set[place] - redundancy_set[place - 1], apart) << "cohort " << number;
      }
    }
  });
}

// Ranks that are left over go to different redundancy sets as far as there are enough, and to the last ones.
TEST(Cohorts, ShareWhatIsLeftOver) {
  for_all_sets([](int ranks, int separation, int size) {
    if (ranks < size) return;
    const auto redundancy_sets = redundancy_sets_of(ranks, separation, size);
    std::size_t least = redundancy_sets[0].size();
    std::size_t most = least;
    for (const auto& redundancy_set : redundancy_sets) {
      EXPECT_GE(redundancy_set.size(), most) << "the last ones have more";
      least = std::min(least, redundancy_set.size());
      most = std::max(most, redundancy_set.size());
    }
    EXPECT_LE(most - least, 1U);
  });
}

TEST(Cohorts, AreWhatTheyAlwaysWere) {
  EXPECT_EQ(redundancy_sets_of(8, 2, 4), (RedundancySets{{0, 2, 4, 6}, {1, 3, 5, 7}}));
  EXPECT_EQ(redundancy_sets_of(8, 1, 4), (RedundancySets{{0, 1, 2, 3}, {4, 5, 6, 7}}));
  EXPECT_EQ(redundancy_sets_of(10, 2, 3), (RedundancySets{{0, 2, 4}, {1, 3, 5}, {6, 7, 8, 9}}));
  EXPECT_EQ(redundancy_sets_of(5, 1, 2), (RedundancySets{{0, 1}, {2, 3, 4}}));
  EXPECT_EQ(redundancy_sets_of(5, 1, 3), (RedundancySets{{0, 1, 2, 3, 4}}));
  EXPECT_EQ(redundancy_sets_of(3, 1, 4), (RedundancySets{{0, 1, 2}}));
  EXPECT_EQ(redundancy_sets_of(1, 1, 2), (RedundancySets{{0}}));
}

Policy encoding(int separation, int size, int losses) {
  return {losses == 1 ? Policy::Kind::parity : Policy::Kind::reed_solomon, separation, size, losses};
}

TEST(Placement, KnowsTheCohortOfEachRank) {
  for_all_sets([](int ranks, int separation, int size) {
    const Placement placement(encoding(separation, size, 1), ranks);
    const auto redundancy_sets = redundancy_sets_of(ranks, separation, size);
    for (int rank = 0; rank < ranks; ++rank) {
      const auto& redundancy_set = placement.redundancy_set(rank);
      EXPECT_NE(std::find(redundancy_sets.begin(), redundancy_sets.end(), redundancy_set), redundancy_sets.end());
      ASSERT_LT(placement.index_in_set(rank), static_cast<int>(redundancy_set.size()));
      EXPECT_EQ(redundancy_set[static_cast<std::size_t>(placement.index_in_set(rank))], rank);
    }
  });
}

TEST(Placement, HasAsManyKeepersAsMayBeLost) {
  for_all_sets([](int ranks, int separation, int size) {
    for (int losses = 1; losses <= std::min(4, size - 1); ++losses) {
      const Placement placement(encoding(separation, size, losses), ranks);
      EXPECT_EQ(placement.copies(), std::min({losses, size - 1, ranks - 1}));
      for (int rank = 0; rank < ranks; ++rank) {
        const auto& redundancy_set = placement.redundancy_set(rank);
        std::set<int> holders;
        for (int copy = 0; copy < placement.copies(); ++copy) {
          const int holder = placement.holder(rank, copy);
          EXPECT_NE(holder, rank);
          EXPECT_NE(std::find(redundancy_set.begin(), redundancy_set.end(), holder), redundancy_set.end());
          EXPECT_TRUE(holders.insert(holder).second) << "rank " << rank << " has keeper " << holder << " twice";
          EXPECT_EQ(placement.kept(holder, copy), rank);
        }
      }
    }
  });
}

void expect_mutual(const Placement& placement, int ranks) {
  for (int rank = 0; rank < ranks; ++rank) {
    const auto partners = placement.partners(rank);
    const auto witnesses = placement.witnesses(rank);
    ASSERT_TRUE(std::is_sorted(partners.begin(), partners.end()));
    ASSERT_TRUE(std::includes(witnesses.begin(), witnesses.end(), partners.begin(), partners.end()));
    ASSERT_FALSE(contains(witnesses, rank));
    for (const int partner : partners) ASSERT_TRUE(contains(placement.partners(partner), rank)) << partner;
    for (const int witness : witnesses) ASSERT_TRUE(contains(placement.witnesses(witness), rank)) << witness;
    for (int copy = 0; copy < placement.copies(); ++copy) {
      ASSERT_TRUE(contains(partners, placement.holder(rank, copy)));
      ASSERT_TRUE(contains(partners, placement.kept(rank, copy)));
    }
    // Some of them are far away: in numbers, it takes nearly half of all ranks to have all of them.
    for (int first = 0; ranks > 4 && first < ranks; ++first) {
      const int last = first + ranks / 2 - 2;
      ASSERT_TRUE(std::any_of(witnesses.begin(), witnesses.end(),
                              [&](int each) { return each > last || (each < first && each + ranks > last); }))
          << rank << " and those from " << first;
    }
  }
}

TEST(Placement, HasPartnersAndWitnessesOfEachOther) {
  for (int ranks = 1; ranks <= kMostRanks; ++ranks) {
    for (const int separation : {1, 3, 7}) {
      for (const Policy& policy :
           {Policy{Policy::Kind::reed_solomon, separation, 4, 2}, Policy{Policy::Kind::parity, separation, 7, 1},
            Policy{Policy::Kind::buddies, separation}, Policy{Policy::Kind::ring, separation},
            Policy{Policy::Kind::local}}) {
        SCOPED_TRACE(testing::Message() << ranks << " ranks, separation " << separation);
        expect_mutual(Placement(policy, ranks), ranks);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TEST(Placement, OfWholeCopiesIsThePairing) {
  for (const auto kind : {Policy::Kind::buddies, Policy::Kind::ring}) {
    for (int ranks = 2; ranks <= kMostRanks; ++ranks) {
      for (int separation = 1; separation < ranks; ++separation) {
        const Policy policy{kind, separation, 0, 1};
        const Placement placement(policy, ranks);
        const Pairing pairing(policy, ranks);
        ASSERT_EQ(placement.copies(), 1);
        for (int rank = 0; rank < ranks; ++rank) {
          EXPECT_EQ(placement.holder(rank, 0), pairing.holder_of(rank));
          EXPECT_EQ(placement.kept(rank, 0), pairing.held_by(rank));
          EXPECT_TRUE(placement.redundancy_set(rank).empty());
        }
      }
    }
  }
}

TEST(Placement, NobodyKeepsAnythingForALoneRankOrWithoutRedundancy) {
  const Policy local{Policy::Kind::local, 1, 0, 0};
  for (const Policy& policy : {Policy{}, Policy{Policy::Kind::ring, 1, 0, 1}, local, encoding(1, 2, 1)}) {
    EXPECT_EQ(Placement(policy, 1).copies(), 0);
  }
  for (int ranks = 1; ranks <= kMostRanks; ++ranks) {
    const Placement placement(local, ranks);
    EXPECT_EQ(placement.copies(), 0);
    for (int rank = 0; rank < ranks; ++rank) EXPECT_TRUE(placement.redundancy_set(rank).empty());
  }
  EXPECT_EQ(Placement().copies(), 0);
}

}  // namespace
}  // namespace fenix_impl
