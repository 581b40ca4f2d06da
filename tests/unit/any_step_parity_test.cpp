// SPDX-License-Identifier: BSD-3-Clause
// Ranks that die at every step of storing, committing and rejoining under policies that encode.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "support/any_step.hpp"
#include "support/random_seed.hpp"

namespace fenix_test {
namespace {

using fenix_impl::GroupParameters;
using fenix_impl::Policy;

// There are more steps than without parity, and each takes longer.
constexpr int kStride = 43;

// One redundancy set; two of them, one larger than the other; a code that survives two losses, also with as much parity as data.
constexpr Encoded kEncoded[] = {
    {4, parity(4)}, {5, parity(2)}, {2, parity(2)}, {5, reed_solomon(5, 2)}, {4, reed_solomon(4, 2)}};

TEST(AnyStepOfParity, OfStoringAndCommitting) {
  for (const Encoded& each : kEncoded) {
    lose_one_at_any_step(each, kStride, [&](int steps) { return Application(each.size, steps % 3, each.policy); });
  }
}

TEST(AnyStepOfParity, OfStoringAndCommittingForTwo) {
  for (const Encoded& each : {Encoded{5, reed_solomon(5, 2)}, Encoded{4, reed_solomon(4, 3)}}) {
    lose_two_at_any_step(each, kStride, [&](int steps) { return Application(each.size, steps % 3, each.policy); });
  }
}

TEST(AnyStepOfParity, OfCreatingTheGroup) {
  for (const Encoded& encoded : {Encoded{3, parity(3)}, Encoded{4, reed_solomon(4, 2)}}) {
    for (int dying = 0; dying < encoded.size; ++dying) {
      SCOPED_TRACE(testing::Message() << encoded << ", " << dying << " dies");
      for_steps(encoded.size + dying, [&](int steps) {
        Application application(encoded.size, 1, encoded.policy);
        application.job.doom(dying, steps, some_unlucky(steps));
        const bool lives = application.play(0);
        application.job.repair();
        EXPECT_TRUE(application.play(3));
        return !lives;
      });
    }
  }
}

// A rank dies at any step of a change of policy: afterwards all ranks have the same one, the old or the new, and it works.
TEST(AnyStepOfParity, OfChangingThePolicy) {
  constexpr int kSize = 4;
  const Policy buddies{Policy::Kind::buddies, 2, 0, 1};
  const std::vector<std::pair<Policy, Policy>> changes{{buddies, {Policy::Kind::ring, 1, 0, 1}},
                                                       {buddies, parity(4)},
                                                       {parity(2), reed_solomon(4, 2)},
                                                       {reed_solomon(4, 2), buddies},
                                                       {reed_solomon(3, 2), parity(3)}};
  for (const auto& change : changes) {
    // Not a structured binding: a lambda of C++20 may capture one, which clang knows from version 16 on.
    const Policy &before = change.first, &after = change.second;
    const GroupParameters parameters{5, 0, 0, before};
    for (int dying = 0; dying < kSize; ++dying) {
      SCOPED_TRACE(testing::Message() << dying << " dies, kind " << static_cast<int>(before.kind) << " to "
                                      << static_cast<int>(after.kind));
      for_steps(dying, [&](int steps) {
        Job job(kSize);
        expect_done(job.run([&](Rank& rank) {
          join(rank, parameters);
          provide(rank, kSmall);
          rank.team->barrier();
        }));
        job.doom(dying, steps, some_unlucky(steps));
        const auto outcomes = job.run([&](Rank& rank) {
          rank.group->policy_change().set_policy(after, [] {});
          rank.team->barrier();
        });
        job.repair();
        expect_done(job.run([&](Rank& rank) {
          join(rank, parameters);
          provide(rank, kSmall);
          for (int stamp = 0; stamp < 3; ++stamp) {
            store(rank, kSmall, stamp);
            commit_barrier(rank);
          }
          rank.team->barrier();
        }));
        for (const Rank& rank : job.ranks()) {
          EXPECT_EQ(rank.group->parameters().policy, job.rank(0).group->parameters().policy) << "rank " << rank.number;
        }
        job.kill(1);
        job.repair();
        expect_done(job.run([&](Rank& rank) {
          join(rank, parameters);
          EXPECT_EQ(restore(rank, kSmall), contents(rank.number, kSmall, 2));
        }));
        return std::any_of(outcomes.begin(), outcomes.end(),
                           [](const Outcome& each) { return each.ending == Ending::died; });
      });
    }
  }
}

// Ranks are lost; while the group is formed again, one more dies. The ranks that are left rebuild together, or the replacement alone.
TEST(AnyStepOfParity, OfRejoining) {
  for (const Encoded& encoded : kEncoded) {
    for (int lost = 0; lost < encoded.size; ++lost) {
      for (int dying = 0; dying < encoded.size; ++dying) {
        SCOPED_TRACE(testing::Message() << encoded << ", " << lost << " is lost, then " << dying << " dies");
        const RebuildsAlone here((lost + dying) % 2 == 0);
        for_steps(
            11 * lost + 5 * dying,
            [&](int steps) {
              Application application(encoded.size, steps % 2, encoded.policy);
              EXPECT_TRUE(application.play(3));
              application.job.kill(lost);
              application.job.repair();
              application.job.doom(dying, steps, some_unlucky(steps + dying));
              const bool lives = application.play(4);
              application.job.repair();
              if (dying == lost || encoded.policy.losses > 1) {
                EXPECT_TRUE(application.covered());
              }
              EXPECT_TRUE(application.play(6));
              return !lives;
            },
            2 * kStride);
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

// The replacement sees the death of the peer that it is just decoding from.
TEST(AnyStepOfParity, OfDecodingFromAPeerThatDies) {
  const RebuildsAlone here;
  for (const Encoded& encoded : {Encoded{4, parity(4)}, Encoded{5, reed_solomon(5, 2)}}) {
    for (int lost = 0; lost < encoded.size; ++lost) {
      SCOPED_TRACE(testing::Message() << encoded << ", " << lost << " is lost");
      bool complete = false;
      for (int accesses = lost; !complete && !testing::Test::HasFailure();
           accesses += all_steps() ? 1 : 11 * each_of_those()) {
        SCOPED_TRACE(testing::Message() << "its peer dies after " << accesses << " accesses");
        Application application(encoded.size, 1, encoded.policy);
        EXPECT_TRUE(application.play(3));
        application.job.kill(lost);
        application.job.repair();
        application.job.crew().cut_off(lost, accesses);
        complete = application.play(4);
        application.job.repair();
        EXPECT_TRUE(application.play(6));
      }
    }
  }
}

// A rank dies while it tells two others of its commit, so perhaps only one has its record; its replacement dies in the rejoin,
// and then the rank that may have the record. The snapshot before has to be there still.
TEST(AnyStepOfParity, OfRejoiningBeforeBothLosses) {
  constexpr int kFirst = 0;
  constexpr int kSecond = 1;
  for_steps(
      1,
      [](int steps) {
        bool lives = false;
        for_steps(
            3,
            [&](int steps_of_rejoin) {
              Application application(4, 0, reed_solomon(4, 2));
              EXPECT_TRUE(application.play(1));
              application.job.doom(kFirst, steps);
              lives = application.play(2);
              application.job.repair();
              application.job.doom(kFirst, steps_of_rejoin);
              if (lives || application.play(2)) return false;
              application.job.kill(kSecond);
              EXPECT_TRUE(application.covered());
              application.job.repair();
              EXPECT_TRUE(application.play(3));
              return true;
            },
            29);
        return !lives;
      },
      3);
}

// Any sequence of deaths, one or two at a time, also beyond what the policy covers.
TEST(AnyStepOfParity, OfALongLife) {
  std::mt19937 random(random_seed());
  for (int job = 0; job < (all_steps() ? 1000 : 40) && !testing::Test::HasFailure(); ++job) {
    const int size = 2 + static_cast<int>(random() % 5);
    const int redundancy_set = 2 + static_cast<int>(random() % 4);
    const int losses = 1 + static_cast<int>(random() % 2);
    const Policy policy = losses == 1 ? parity(redundancy_set, 1 + static_cast<int>(random() % 2))
                                      : reed_solomon(std::max(redundancy_set, losses + 1), losses);
    Application application(size, static_cast<int>(random() % 3), policy);
    int last = 1;
    for (int phase = 0; phase < 8; ++phase) {
      last += static_cast<int>(random() % 4);
      for (int death = 0; death < losses; ++death) {
        application.job.doom(static_cast<int>(random() % static_cast<unsigned>(size)), static_cast<int>(random() % 300),
                             static_cast<unsigned>(random()));
      }
      application.play(last);
      application.job.repair();
    }
    EXPECT_TRUE(application.play(last + 2));
  }
}

}  // namespace
}  // namespace fenix_test
