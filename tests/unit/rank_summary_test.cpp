// SPDX-License-Identifier: BSD-3-Clause
// The result of all ranks' summaries when a group is formed.
#include "recovery/rejoin/rank_summary.hpp"

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
