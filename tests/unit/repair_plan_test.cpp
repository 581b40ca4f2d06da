// SPDX-License-Identifier: BSD-3-Clause
// The processes that take the ranks of dead ones.
#include "recovery/process/repair_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace fenix_impl {
namespace {

using Ints = std::vector<int>;
using Bools = std::vector<bool>;

Seat active(int rank) { return {rank, -1}; }
Seat spare(int position) { return {-1, position}; }

// The living of a job with so many active and spares, in order, without the dead. Spare i has number active + i.
std::vector<Seat> living(int ranks, int spares, const std::set<int>& dead) {
  std::vector<Seat> seats;
  for (int number = 0; number < ranks + spares; ++number) {
    if (dead.count(number) == 0) seats.push_back(number < ranks ? active(number) : spare(number - ranks));
  }
  return seats;
}

TEST(RepairPlan, WithoutDeathsNothingChanges) {
  const auto plan = plan_repair(3, 2, living(3, 2, {}));
  EXPECT_EQ(plan.active, (Ints{0, 1, 2}));
  EXPECT_EQ(plan.recovered, (Bools{false, false, false}));
  EXPECT_EQ(plan.spares, (Ints{3, 4}));
  EXPECT_EQ(plan.failed, Ints{});
  EXPECT_FALSE(plan.shrunk);
}

TEST(RepairPlan, FirstSpareTakesThePlaceOfTheDead) {
  // The living: active 0 and 2, spares 0 and 1.
  const auto plan = plan_repair(3, 2, living(3, 2, {1}));
  EXPECT_EQ(plan.active, (Ints{0, 2, 1}));
  EXPECT_EQ(plan.recovered, (Bools{false, true, false}));
  EXPECT_EQ(plan.spares, Ints{3});
  EXPECT_EQ(plan.failed, Ints{1});
  EXPECT_FALSE(plan.shrunk);
}

TEST(RepairPlan, SparesTakeTheLowestPlacesInTheirOrder) {
  const auto plan = plan_repair(4, 3, living(4, 3, {0, 3}));
  EXPECT_EQ(plan.active, (Ints{2, 0, 1, 3}));
  EXPECT_EQ(plan.recovered, (Bools{true, false, false, true}));
  EXPECT_EQ(plan.spares, Ints{4});
  EXPECT_EQ(plan.failed, (Ints{0, 3}));
  EXPECT_FALSE(plan.shrunk);
}

TEST(RepairPlan, ShrinksWhenSparesAreUsedUpAndKeepsTheOrder) {
  const auto plan = plan_repair(5, 1, living(5, 1, {1, 3}));
  // The living: active 0, 2, 4, then the spare.
  EXPECT_EQ(plan.active, (Ints{0, 3, 1, 2}));
  EXPECT_EQ(plan.recovered, (Bools{false, true, false, false}));
  EXPECT_EQ(plan.spares, Ints{});
  EXPECT_EQ(plan.failed, (Ints{1, 3}));
  EXPECT_TRUE(plan.shrunk);
}

TEST(RepairPlan, ShrinksWithoutSpares) {
  const auto plan = plan_repair(3, 0, living(3, 0, {0}));
  EXPECT_EQ(plan.active, (Ints{0, 1}));
  EXPECT_EQ(plan.recovered, (Bools{false, false}));
  EXPECT_EQ(plan.failed, Ints{0});
  EXPECT_TRUE(plan.shrunk);
}

TEST(RepairPlan, DeadSparesAreSkippedAndNumberedAfterThePlaces) {
  const auto plan = plan_repair(2, 3, living(2, 3, {1, 2, 4}));
  // The living: rank 0 and spare 1.
  EXPECT_EQ(plan.active, (Ints{0, 1}));
  EXPECT_EQ(plan.recovered, (Bools{false, true}));
  EXPECT_EQ(plan.spares, Ints{});
  EXPECT_EQ(plan.failed, (Ints{1, 2, 4}));
  EXPECT_FALSE(plan.shrunk);
}

TEST(RepairPlan, DeadSpareAloneDoesNotShrink) {
  const auto plan = plan_repair(2, 1, living(2, 1, {2}));
  EXPECT_EQ(plan.active, (Ints{0, 1}));
  EXPECT_EQ(plan.failed, Ints{2});
  EXPECT_FALSE(plan.shrunk);
}

TEST(RepairPlan, SparesGoOnWhenAllActiveRanksAreDead) {
  const auto plan = plan_repair(2, 3, living(2, 3, {0, 1}));
  EXPECT_EQ(plan.active, (Ints{0, 1}));
  EXPECT_EQ(plan.recovered, (Bools{true, true}));
  EXPECT_EQ(plan.spares, Ints{2});
  EXPECT_EQ(plan.failed, (Ints{0, 1}));
  EXPECT_FALSE(plan.shrunk);
}

TEST(RepairPlan, OrderOfTheLivingDoesNotMatter) {
  const auto plan = plan_repair(3, 1, {spare(0), active(2), active(0)});
  EXPECT_EQ(plan.active, (Ints{2, 0, 1}));
  EXPECT_EQ(plan.recovered, (Bools{false, true, false}));
  EXPECT_EQ(plan.failed, Ints{1});
}

// What must hold whoever dies, of a job in which the living come in any order.
void expect_sound(int ranks, int spares, const std::set<int>& dead, const std::vector<Seat>& seats) {
  const auto plan = plan_repair(ranks, spares, seats);
  EXPECT_EQ(plan.failed, Ints(dead.begin(), dead.end()));
  ASSERT_EQ(plan.active.size(), plan.recovered.size());
  EXPECT_EQ(plan.shrunk, plan.active.size() < static_cast<std::size_t>(ranks));

  // Everybody living has a rank or stays a spare, once.
  Ints used(plan.active);
  used.insert(used.end(), plan.spares.begin(), plan.spares.end());
  std::sort(used.begin(), used.end());
  for (std::size_t i = 0; i < used.size(); ++i) EXPECT_EQ(used[i], static_cast<int>(i));
  EXPECT_EQ(used.size(), seats.size());

  int before = -1;
  for (std::size_t rank = 0; rank < plan.active.size(); ++rank) {
    const Seat& seat = seats[static_cast<std::size_t>(plan.active[rank])];
    EXPECT_EQ(plan.recovered[rank], seat.rank < 0);
    if (seat.rank < 0) continue;
    EXPECT_GT(seat.rank, before) << "survivors keep their order";
    before = seat.rank;
    if (!plan.shrunk) {
      EXPECT_EQ(seat.rank, static_cast<int>(rank)) << "survivors keep their rank";
    }
  }
  EXPECT_TRUE(!plan.shrunk || plan.spares.empty()) << "nobody idles while active are missing";
}

TEST(RepairPlan, KeepsTheOrderWhereNobodyChangesItsPlace) {
  const auto keeps = [](int ranks, int spares, const std::set<int>& dead) {
    return keeps_order(plan_repair(ranks, spares, living(ranks, spares, dead)));
  };
  EXPECT_TRUE(keeps(3, 0, {})) << "nobody has died";
  EXPECT_TRUE(keeps(3, 2, {4})) << "a spare has died";
  EXPECT_TRUE(keeps(4, 0, {0, 2})) << "the ranks are closed up";
  EXPECT_TRUE(keeps(3, 2, {2})) << "the first spare is next to the last rank already";
  EXPECT_FALSE(keeps(3, 1, {1})) << "the spare goes before rank 2";
  EXPECT_FALSE(keeps(3, 2, {0, 4})) << "the same, while another spare has died";
}

TEST(RepairPlan, HoldsForRandomDeaths) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  const auto up_to = [&](int most) { return static_cast<int>(random() % static_cast<unsigned>(most + 1)); };
  for (int i = 0; i < 3000 && !testing::Test::HasFailure(); ++i) {
    const int ranks = 1 + up_to(11);
    const int spares = up_to(5);
    std::set<int> dead;
    for (int number = 0; number < ranks + spares; ++number) {
      if (up_to(3) == 0) dead.insert(number);
    }
    auto seats = living(ranks, spares, dead);
    std::shuffle(seats.begin(), seats.end(), random);
    expect_sound(ranks, spares, dead, seats);
  }
}

}  // namespace
}  // namespace fenix_impl
