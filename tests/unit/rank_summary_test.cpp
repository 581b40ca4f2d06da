// SPDX-License-Identifier: BSD-3-Clause
// The result of all ranks' summaries when a group is formed.
#include "recovery/groups/rejoin/rank_summary.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace fenix_impl {
namespace {

RankSummary summary(int rank, std::uint64_t members, std::uint64_t epoch) {
  RankSummary each;
  each.source = rank;
  each.members = members;
  each.flags = members > 0 ? RankSummary::kSomeKnow : RankSummary::kSomeNew;
  each.known_on_all = {epoch};
  return each;
}

RankSummary merged(const std::vector<RankSummary>& ranks) {
  RankSummary all = ranks.front();
  for (std::size_t i = 1; i < ranks.size(); ++i) all.merge(ranks[i]);
  return all;
}

TEST(RankSummary, TheFirstOfTheRanksThatKnowMostIsTheSource) {
  std::vector<RankSummary> ranks{summary(0, 2, 7), summary(1, 3, 5), summary(2, 0, 0), summary(3, 3, 6)};
  std::sort(ranks.begin(), ranks.end(), [](const auto& a, const auto& b) { return a.source < b.source; });
  do {
    const RankSummary all = merged(ranks);
    EXPECT_EQ(all.source, 1);
    EXPECT_EQ(all.members, 3U);
    EXPECT_EQ(all.known_on_all.value, 7U);
    EXPECT_TRUE(all.has(RankSummary::kSomeKnow) && all.has(RankSummary::kSomeNew));
    EXPECT_FALSE(all.has(RankSummary::kWantedDiffers) || all.has(RankSummary::kSeveralNodes));
  } while (std::next_permutation(ranks.begin(), ranks.end(),
                                 [](const auto& a, const auto& b) { return a.source < b.source; }));
}

TEST(RankSummary, OtherArgumentsOfAnyRankAreSeen) {
  std::vector<RankSummary> ranks{summary(0, 0, 0), summary(1, 0, 0), summary(2, 0, 0)};
  EXPECT_FALSE(merged(ranks).has(RankSummary::kWantedDiffers));
  ranks[2].wanted.depth = 1;
  EXPECT_TRUE(merged(ranks).has(RankSummary::kWantedDiffers));
}

TEST(RankSummary, LivingRanksCountMoreThanMemoryAndLaterMemoryCountsMore) {
  using Kind = RankSummary::Knowledge::Kind;
  std::vector<RankSummary> ranks{summary(0, 9, 0), summary(1, 0, 0), summary(2, 3, 0), summary(3, 4, 0)};
  ranks[0].knowledge = {Kind::kept_memory, 3, 7};
  ranks[0].flags |= RankSummary::kUnwanted;
  ranks[0].generation = 7;
  ranks[2].knowledge = {Kind::kept_memory, 4, 1};
  ranks[3].knowledge = {Kind::kept_memory, 4, 1};
  const auto check = [&](std::uint64_t members, int source) {
    std::vector<std::size_t> order{0, 1, 2, 3};
    do {
      RankSummary all = ranks[order[0]];
      // One of them twice: in a reduction, the contributions of some ranks may come on two ways.
      for (const std::size_t i : {order[1], order[2], order[3], order[1]}) all.merge(ranks[i]);
      EXPECT_EQ(all.members, members);
      EXPECT_EQ(all.source, source);
      EXPECT_EQ(all.generation, 7U) << "generations never come again";
      EXPECT_TRUE(all.has(RankSummary::kSomeKnowLess) && all.has(RankSummary::kSomeKnow));
      EXPECT_FALSE(all.has(RankSummary::kUnwanted)) << "said of memory that does not count";
    } while (std::next_permutation(order.begin(), order.end()));
  };
  check(4, 3);
  ranks[1] = summary(1, 2, 0);
  ranks[1].knowledge.kind = Kind::group;
  check(2, 1);
}

TEST(RankSummary, ShapesOfTheGroupsThatRanksHaveAreCompared) {
  std::vector<RankSummary> ranks{summary(0, 1, 0), summary(1, 0, 0), summary(2, 1, 0)};
  ranks[0].least = ranks[0].most = {{4}, 3};
  ranks[2].least = ranks[2].most = {{4}, 3};
  EXPECT_EQ(merged(ranks).least, merged(ranks).most) << "a rank without the group has no shape";
  ranks[2].least = ranks[2].most = {{5}, 3};
  EXPECT_NE(merged(ranks).least, merged(ranks).most);
}

}  // namespace
}  // namespace fenix_impl
