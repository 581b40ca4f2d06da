// SPDX-License-Identifier: BSD-3-Clause
// Ranks that die at every step of commits in place, of settling them, and of rejoining.
#include <gtest/gtest.h>

#include <vector>

#include "support/application.hpp"
#include "support/encoded.hpp"

namespace fenix_test {
namespace {

using fenix_impl::Policy;

constexpr int kStrideInPlace = 31;

// Pairs, a ring, one cohort and two, and codes that survive two losses.
const Encoded kPoliciesInPlace[] = {{4, {Policy::Kind::buddies, 2, 0, 1}},
                                    {3, {Policy::Kind::ring, 1, 0, 1}},
                                    {4, parity(4)},
                                    {5, parity(2)},
                                    {5, reed_solomon(5, 2)},
                                    {4, reed_solomon(4, 2)}};

TEST(AnyStepInPlace, OfStoringAndCommitting) {
  for (const Encoded& each : kPoliciesInPlace) {
    for (int dying = 0; dying < each.size; ++dying) {
      SCOPED_TRACE(testing::Message() << each << ", " << dying << " dies");
      for_steps(
          7 * each.size + dying,
          [&](int steps) {
            Application application = Application::in_place(each.size, each.policy);
            EXPECT_TRUE(application.play(2));
            application.job.doom(dying, steps, some_unlucky(steps));
            const bool lives = application.play(6);
            application.job.repair();
            EXPECT_TRUE(application.covered());
            EXPECT_TRUE(application.play(7));
            application.job.kill((dying + 1) % each.size);
            application.job.repair();
            EXPECT_TRUE(application.play(8));
            return !lives;
          },
          kStrideInPlace);
    }
  }
}

TEST(AnyStepInPlace, OfStoringAndCommittingForTwo) {
  for (const Encoded& each : {Encoded{5, reed_solomon(5, 2)}, Encoded{4, reed_solomon(4, 3)}}) {
    for (int dying = 0; dying < each.size; ++dying) {
      const int other = (dying + 1 + dying % 2) % each.size;
      SCOPED_TRACE(testing::Message() << each << ", " << dying << " dies, and " << other);
      for_steps(
          7 * each.size + dying,
          [&](int steps) {
            Application application = Application::in_place(each.size, each.policy);
            EXPECT_TRUE(application.play(2));
            application.job.doom(dying, steps, some_unlucky(steps));
            application.job.doom(other, steps + steps % 5, some_unlucky(steps));
            const bool lives = application.play(6);
            application.job.repair();
            EXPECT_TRUE(application.covered());
            EXPECT_TRUE(application.play(7));
            return !lives;
          },
          kStrideInPlace);
    }
  }
}

// A rank dies in a commit; while that is settled and the group is formed again, one more dies.
TEST(AnyStepInPlace, OfSettlingAndRejoining) {
  for (const Encoded& each : kPoliciesInPlace) {
    for (int lost = 0; lost < each.size; ++lost) {
      const int dying = (lost + 1) % each.size;
      // The steps of a commit, at each of which the first one may die.
      for (int first = 3 * lost; first < 120; first += 37 * each_of_those()) {
        SCOPED_TRACE(testing::Message() << each << ", " << lost << " dies after " << first << " steps, then " << dying);
        for_steps(
            11 * lost + first,
            [&](int steps) {
              Application application = Application::in_place(each.size, each.policy);
              EXPECT_TRUE(application.play(3));
              application.job.doom(lost, first, some_unlucky(first));
              if (application.play(4)) return false;
              application.job.repair();
              application.job.doom(dying, steps, some_unlucky(steps + dying));
              const bool lives = application.play(5);
              application.job.repair();
              if (each.policy.losses > 1) {
                EXPECT_TRUE(application.covered());
              }
              EXPECT_TRUE(application.play(7));
              return !lives;
            },
            2 * kStrideInPlace);
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

}  // namespace
}  // namespace fenix_test
