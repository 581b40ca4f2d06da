// SPDX-License-Identifier: BSD-3-Clause
#include "base/location.hpp"

#include <gtest/gtest.h>

namespace fenix_impl {
namespace {

TEST(Order, HasNodesOneAfterTheOther) {
  const std::vector<Location> ranks{{0, 9}, {0, 5}, {0, 9}, {0, 7}, {0, 5}};
  EXPECT_EQ(order_of(ranks), (std::vector<int>{0, 2, 1, 4, 3}));
}

TEST(Order, HasNodesOfADomainNextToEachOther) {
  const std::vector<Location> ranks{{8, 1}, {3, 2}, {8, 3}, {3, 4}, {8, 1}};
  EXPECT_EQ(order_of(ranks), (std::vector<int>{0, 4, 2, 1, 3}));
}

TEST(Order, OfOneNodeIsThatOfTheRanks) {
  EXPECT_EQ(order_of(std::vector<Location>(4)), (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(order_of({}), std::vector<int>{});
}

TEST(Order, HasEachRankOnce) {
  EXPECT_TRUE(is_order(std::vector<int>{2, 0, 1}));
  EXPECT_TRUE(is_order({}));
  EXPECT_FALSE(is_order(std::vector<int>{0, 0, 1}));
  EXPECT_FALSE(is_order(std::vector<int>{0, 3, 1}));
  EXPECT_FALSE(is_order(std::vector<int>{0, -1, 1}));
}

}  // namespace
}  // namespace fenix_impl
