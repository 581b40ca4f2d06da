// SPDX-License-Identifier: BSD-3-Clause
// Ranks that die at every step of storing, committing and rejoining under policies that keep whole copies. Data that the
// policy covers comes back, on all ranks the same, byte for byte. A loss beyond the policy is an error on all ranks.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

#include "parity/pairing.hpp"
#include "support/application.hpp"
#include "support/random_seed.hpp"

namespace fenix_test {
namespace {

using fenix_impl::GroupParameters;
using fenix_impl::Pairing;

TEST(AnyStep, OfStoringAndCommitting) {
  for (int size = 2; size <= 5; ++size) {
    for (int dying = 0; dying < size; ++dying) {
      SCOPED_TRACE(testing::Message() << size << " ranks, " << dying << " dies");
      for_steps(size + dying, [&](int steps) {
        Application application(size, steps % 3);
        EXPECT_TRUE(application.play(2));
        application.job.doom(dying, steps, some_unlucky(steps));
        const bool lives = application.play(6);
        application.job.repair();
        EXPECT_TRUE(application.covered());
        EXPECT_TRUE(application.play(7));
        return !lives;
      });
    }
  }
}

TEST(AnyStep, OfCreatingTheGroup) {
  for (int size = 2; size <= 4; ++size) {
    for (int dying = 0; dying < size; ++dying) {
      SCOPED_TRACE(testing::Message() << size << " ranks, " << dying << " dies");
      for_steps(size + dying, [&](int steps) {
        Application application(size, 1);
        application.job.doom(dying, steps, some_unlucky(steps));
        const bool lives = application.play(0);
        application.job.repair();
        EXPECT_TRUE(application.play(3));
        return !lives;
      });
    }
  }
}

// A rank is lost; while the group is formed again, one more dies: the replacement, its buddy, or somebody else.
// What one survivor has got to the end, all have afterwards, with the sizes that they have.
TEST(AnyStep, OfCreatingAMember) {
  const GroupParameters parameters{5, 0, 0, {}};
  for (int size = 2; size <= 5; ++size) {
    for (int dying = 0; dying < size; ++dying) {
      SCOPED_TRACE(testing::Message() << size << " ranks, " << dying << " dies");
      for_steps(size + dying, [&](int steps) {
        Job job(size);
        expect_done(job.run([&](Rank& rank) {
          join(rank, parameters);
          provide(rank, kSmall);
        }));
        job.doom(dying, steps, some_unlucky(steps + dying));
        std::vector<int> created(static_cast<std::size_t>(size));
        const auto outcomes = job.run([&](Rank& rank) {
          provide(rank, kLarge);
          created[static_cast<std::size_t>(rank.number)] = 1;
        });
        const bool lives = outcomes[static_cast<std::size_t>(dying)] == Ending::done;
        if (!lives) created[static_cast<std::size_t>(dying)] = 0;
        job.repair();
        expect_done(job.run([&](Rank& rank) {
          join(rank, parameters);
          EXPECT_NE(rank.group->find(kSmall), nullptr);
          const bool somebody = std::find(created.begin(), created.end(), 1) != created.end();
          if (!somebody) return;
          expect_counts(rank, kLarge, std::array{0, 1, 2, 3, 4});
        }));
        return !lives;
      });
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(AnyStep, OfRejoining) {
  for (int size = 2; size <= 5; ++size) {
    for (int lost = 0; lost < size; ++lost) {
      for (int dying = 0; dying < size; ++dying) {
        SCOPED_TRACE(testing::Message() << size << " ranks, " << lost << " is lost, then " << dying << " dies");
        for_steps(lost + dying, [&](int steps) {
          Application application(size, steps % 2);
          EXPECT_TRUE(application.play(3));
          application.job.kill(lost);
          application.job.repair();
          application.job.doom(dying, steps, some_unlucky(steps + dying));
          const bool lives = application.play(4);
          application.job.repair();
          const Pairing pairing({}, size);
          if (dying == lost || (dying != pairing.holder_of(lost) && dying != pairing.held_by(lost))) {
            EXPECT_TRUE(application.covered());
          }
          EXPECT_TRUE(application.play(6));
          return !lives;
        });
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

// The replacement sees the death of the peer that it is just fetching data from.
TEST(AnyStep, OfFetchingFromAPeerThatDies) {
  for (int size = 2; size <= 5; ++size) {
    for (int lost = 0; lost < size; ++lost) {
      SCOPED_TRACE(testing::Message() << size << " ranks, " << lost << " is lost");
      bool complete = false;
      for (int accesses = (size + lost) % each_of_those(); !complete && !testing::Test::HasFailure();
           accesses += each_of_those()) {
        SCOPED_TRACE(testing::Message() << "its peer dies after " << accesses << " accesses");
        Application application(size, 1);
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

// Without spares the team shrinks: members stay with their elements, whoever dies meanwhile.
TEST(AnyStep, OfRejoiningAShrunkTeam) {
  const GroupParameters parameters{5, 0, 0, {}};
  for (int size = 3; size <= 5; ++size) {
    for (int dying = 0; dying < size - 1; ++dying) {
      SCOPED_TRACE(testing::Message() << size << " ranks, one is lost, then " << dying << " of the others dies");
      for_steps(size + dying, [&](int steps) {
        Job job(size);
        const auto rejoin_all = [&](Rank& rank) {
          join(rank, parameters);
          for (const int member : kApplicationMembers) provide(rank, member);
        };
        expect_done(job.run(rejoin_all));
        job.kill(1);
        job.shrink();
        job.doom(dying, steps, some_unlucky(steps + dying));
        const auto outcomes = job.run(rejoin_all);
        const bool lives = outcomes[static_cast<std::size_t>(dying)] == Ending::done;
        for (const Outcome& outcome : outcomes) {
          EXPECT_TRUE(outcome == Ending::done || outcome == Ending::failure_seen || outcome == Ending::died) << outcome;
        }
        job.shrink();
        expect_done(job.run([&](Rank& rank) {
          rejoin_all(rank);
          for (const int member : kApplicationMembers) {
            std::vector<int> origins;
            for (const Rank& other : job.ranks()) origins.push_back(other.origin);
            expect_counts(rank, member, origins);
            // With wrong counts a store would read past the end of the buffer.
            if (testing::Test::HasFailure()) return;
            store(rank, member, 0);
          }
          commit_barrier(rank);
          for (const int member : kApplicationMembers)
            EXPECT_EQ(restore(rank, member), contents(rank.origin, member, 0));
        }));
        return !lives;
      });
    }
  }
}

// Any sequence of deaths, also beyond what the policy covers.
TEST(AnyStep, OfALongLife) {
  std::mt19937 random(random_seed());
  for (int job = 0; job < (all_steps() ? 1000 : 40) && !testing::Test::HasFailure(); ++job) {
    const int size = 2 + static_cast<int>(random() % 4);
    Application application(size, static_cast<int>(random() % 3));
    int last = 1;
    for (int phase = 0; phase < 8; ++phase) {
      last += static_cast<int>(random() % 4);
      application.job.doom(static_cast<int>(random() % static_cast<unsigned>(size)), static_cast<int>(random() % 200),
                           static_cast<unsigned>(random()));
      application.play(last);
      application.job.repair();
    }
    EXPECT_TRUE(application.play(last + 2));
  }
}

}  // namespace
}  // namespace fenix_test
