// SPDX-License-Identifier: BSD-3-Clause
// Ranks that die at every step of commits in place, of settling them, and of rejoining.
#include <gtest/gtest.h>

#include <vector>

#include "support/any_step.hpp"

namespace fenix_test {
namespace {

using fenix_impl::Policy;

constexpr int kStrideInPlace = 31;

// Pairs, a ring, one redundancy set and two, and codes that survive two losses.
const Encoded kPoliciesInPlace[] = {{4, {Policy::Kind::buddies, 2, 0, 1}},
                                    {3, {Policy::Kind::ring, 1, 0, 1}},
                                    {4, parity(4)},
                                    {5, parity(2)},
                                    {5, reed_solomon(5, 2)},
                                    {4, reed_solomon(4, 2)}};

TEST(AnyStepInPlace, OfStoringAndCommitting) {
  for (const Encoded& each : kPoliciesInPlace) {
    lose_one_at_any_step(each, kStrideInPlace, [&](int) { return Application::in_place(each.size, each.policy); });
  }
}

TEST(AnyStepInPlace, OfStoringAndCommittingForTwo) {
  for (const Encoded& each : {Encoded{5, reed_solomon(5, 2)}, Encoded{4, reed_solomon(4, 3)}}) {
    lose_two_at_any_step(each, kStrideInPlace, [&](int) { return Application::in_place(each.size, each.policy); });
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

// Two of three ranks die in their first commit, which perhaps all have sealed. The third one undoes it, and has nothing else that
// could be missed.
TEST(InPlace, AnUndoneCommitIsReportedIfNobodyCanKnowOfIt) {
  fenix_impl::GroupParameters parameters{5, 0, 0, parity(3)};
  parameters.in_place = 1;
  int undone = 0;
  for (int steps = 0; steps < 200; ++steps) {
    SCOPED_TRACE(testing::Message() << "after " << steps << " steps");
    Job job(3);
    expect_done(job.run([&](Rank& rank) {
      join(rank, parameters);
      provide(rank, kSmall);
      store_until_commit(rank, kSmall, 0);
    }));
    job.doom(0, steps);
    job.doom(1, steps);
    const auto outcomes = job.run([&](Rank& rank) { (void)rank.group->commit(); });
    if (!(outcomes[0] == Ending::died) || !(outcomes[1] == Ending::died)) continue;
    const bool pending = job.rank(2).group->recovery().has_pending_commit();
    // The two may have died when the third one had already ended the commit: then it misses a snapshot that it knows.
    const bool ended = !pending && !job.rank(2).group->log().own_snapshots().empty();
    job.repair();
    job.settle();
    EXPECT_FALSE(job.rank(2).group->recovery().has_pending_commit());
    expect_done(job.run([&](Rank& rank) { EXPECT_EQ(join(rank, parameters).snapshots_lost, pending || ended); }));
    undone += pending ? 1 : 0;
  }
  EXPECT_GT(undone, 0);
}

// Data is larger than all bounce buffers together: they are used again, when the whole redundancy set has read them.
TEST(InPlace, DataLargerThanTheBounceBuffersIsEncoded) {
  constexpr int kHuge = 2;
  constexpr std::size_t kHugeCount = 1'700'000;  // words
  const auto word = [](int rank, std::size_t i) {
    return static_cast<std::uint32_t>(i * 2654435761U + static_cast<std::size_t>(rank));
  };
  for (const Encoded& each : {Encoded{3, parity(3)}, Encoded{4, reed_solomon(4, 2)}}) {
    SCOPED_TRACE(testing::Message() << each);
    fenix_impl::GroupParameters parameters{5, 0, 0, each.policy};
    parameters.in_place = 1;
    Job job(each.size);
    const auto take_up = [&](Rank& rank) {
      join(rank, parameters);
      Words& buffer = rank.buffers[kHuge];
      buffer.resize(kHugeCount);
      if (auto* known = rank.group->find(kHuge)) {
        known->set_buffer(buffer.data());
      } else {
        rank.group->definition().create_member(words(kHuge), buffer.data(), buffer.size(), [] {});
      }
    };
    expect_done(job.run([&](Rank& rank) {
      take_up(rank);
      Words& buffer = rank.buffers[kHuge];
      for (std::size_t i = 0; i < buffer.size(); ++i) buffer[i] = word(rank.number, i);
      store_elements(rank, kHuge, fenix_impl::Selection::all());
      EXPECT_EQ(rank.group->commit(), 0);
      rank.team->barrier();
    }));
    job.kill(1);
    job.repair();
    expect_done(job.run([&](Rank& rank) {
      take_up(rank);
      Words target(kHugeCount);
      (void)rank.group->restore(kHuge, snapshot(std::nullopt), {target.data(), target.size()}, [] {});
      bool same = true;
      for (std::size_t i = 0; i < target.size(); ++i) same = same && target[i] == word(rank.number, i);
      EXPECT_TRUE(same) << "rank " << rank.number;
      EXPECT_EQ(rank.group->verify_all().mended, 0U);
    }));
  }
}

}  // namespace
}  // namespace fenix_test
