// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/groups/rejoin/rank_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "base/error.hpp"
#include "support/simulated_job.hpp"

namespace fenix_impl {
namespace {

std::vector<int> in_order(int ranks) {
  std::vector<int> order(static_cast<std::size_t>(ranks));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

TEST(Runs, AreFewWhereRanksLieAsTheyDo) {
  EXPECT_EQ(runs_of(in_order(100'000)), (std::vector<fenix_impl::Run>{{0, 1, 100'000}}));
  EXPECT_EQ(runs_of(std::vector{0, 3, 6, 1, 4, 7, 2, 5, 8}),
            (std::vector<fenix_impl::Run>{{0, 3, 3}, {1, 3, 3}, {2, 3, 3}}));
  EXPECT_TRUE(runs_of({}).empty());
}

TEST(Runs, AreTheOrder) {
  std::mt19937 random(20261122);
  for (int ranks = 0; ranks <= 60; ++ranks) {
    auto order = in_order(ranks);
    for (int round = 0; round < 20; ++round) {
      EXPECT_EQ(order_in(runs_of(order), ranks), order);
      if (ranks > 1) std::swap(order[random() % order.size()], order[random() % order.size()]);
    }
    std::shuffle(order.begin(), order.end(), random);
    EXPECT_EQ(order_in(runs_of(order), ranks), order);
  }
}

TEST(Runs, ThatAreNoOrderAreRefused) {
  constexpr int kMost = std::numeric_limits<int>::max();
  constexpr int kLeast = std::numeric_limits<int>::min();
  for (const auto& runs : std::vector<std::vector<fenix_impl::Run>>{{},
                                                                    {{0, 1, 3}},
                                                                    {{0, 1, 5}},
                                                                    {{0, 0, 4}},
                                                                    {{1, 1, 4}},
                                                                    {{0, 1, 2}, {0, 1, 2}},
                                                                    {{3, 1, 1}, {0, 1, 0}, {0, 1, 3}},
                                                                    {{3, 1, 1}, {0, 1, -1}, {0, 1, 3}},
                                                                    {{0, kMost, 4}},
                                                                    {{kMost, kMost, 4}},
                                                                    {{kLeast, kLeast, 4}},
                                                                    {{0, 1, kMost}}}) {
    EXPECT_THROW((void)order_in(runs, 4), Error);
  }
}

TEST(TeachOrder, TellsAllWhatOneKnows) {
  fenix_test::Job job(4);
  for (const auto& outcome : job.run([](fenix_test::Rank& rank) {
         const std::vector<int> known = rank.number == 2 ? std::vector{2, 0, 3, 1} : std::vector<int>{};
         EXPECT_EQ(share_rank_order(*rank.team, 2, 4, known), (std::vector{2, 0, 3, 1}));
       })) {
    EXPECT_EQ(outcome.ending, fenix_test::Ending::done);
  }
}

}  // namespace
}  // namespace fenix_impl
