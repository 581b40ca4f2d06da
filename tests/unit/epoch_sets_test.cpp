// SPDX-License-Identifier: BSD-3-Clause
// Which snapshots are left: those that every rank committed, as deep as the group is.
#include "recovery/epoch_sets.hpp"

#include <gtest/gtest.h>

#include <initializer_list>

namespace fenix_impl {
namespace {

std::vector<Epoch> epochs(std::initializer_list<std::uint64_t> values) {
  std::vector<Epoch> list;
  for (const std::uint64_t value : values) list.push_back({value});
  return list;
}

TEST(ConsistentEpochs, AreThoseOfAllRanks) {
  EXPECT_EQ(consistent_epochs({epochs({3, 4, 5}), epochs({3, 4}), epochs({2, 3, 4, 5, 6})}, 9), epochs({3, 4}));
}

TEST(ConsistentEpochs, OfOneRankAreItsOwn) { EXPECT_EQ(consistent_epochs({epochs({1, 2})}, 9), epochs({1, 2})); }

TEST(ConsistentEpochs, GapsStayGaps) {
  EXPECT_EQ(consistent_epochs({epochs({1, 2, 3, 4}), epochs({1, 2, 4})}, 9), epochs({1, 2, 4}));
}

TEST(ConsistentEpochs, ReachDownToDepthBelowTheNewestCommonOne) {
  const std::vector<CommittedEpochs> ranks{epochs({1, 2, 3, 4, 5}), epochs({1, 2, 3, 4})};
  EXPECT_EQ(consistent_epochs(ranks, 0), epochs({4}));
  EXPECT_EQ(consistent_epochs(ranks, 1), epochs({3, 4}));
  EXPECT_EQ(consistent_epochs(ranks, 3), epochs({1, 2, 3, 4}));
  EXPECT_EQ(consistent_epochs(ranks, 4095), epochs({1, 2, 3, 4}));
}

TEST(ConsistentEpochs, DepthCountsEpochsNotEntries) {
  EXPECT_EQ(consistent_epochs({epochs({1, 3, 5})}, 2), epochs({3, 5}));
}

TEST(ConsistentEpochs, AreNoneIfRanksShareNone) {
  EXPECT_EQ(consistent_epochs({epochs({1, 2}), epochs({3})}, 9), epochs({}));
  EXPECT_EQ(consistent_epochs({epochs({1, 2}), epochs({})}, 9), epochs({}));
}

TEST(ConsistentEpochs, AreNoneIfOneRankIsUnknown) {
  EXPECT_EQ(consistent_epochs({std::nullopt, epochs({1})}, 9), epochs({}));
  EXPECT_EQ(consistent_epochs({epochs({1}), std::nullopt, epochs({1})}, 9), epochs({}));
}

TEST(ConsistentEpochs, AreNoneWithoutRanks) { EXPECT_EQ(consistent_epochs({}, 9), epochs({})); }

}  // namespace
}  // namespace fenix_impl
