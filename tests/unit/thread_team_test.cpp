// SPDX-License-Identifier: BSD-3-Clause
// The team of threads that other tests build upon.
#include "support/thread_team.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <map>
#include <vector>

#include "support/simulated_job.hpp"

namespace fenix_test {
namespace {

void expect(const std::vector<Outcome>& outcomes, const std::vector<Ending>& endings) {
  ASSERT_EQ(outcomes.size(), endings.size());
  for (std::size_t rank = 0; rank < endings.size(); ++rank) EXPECT_EQ(outcomes[rank].ending, endings[rank]) << rank;
}

TEST(ThreadTeam, GathersInTheOrderOfRanks) {
  Job job(3);
  expect(job.run([](Rank& rank) {
    EXPECT_EQ(rank.team->gather(10 * rank.number), (std::vector<int>{0, 10, 20}));
    const std::array<int, 2> two{rank.number, -rank.number};
    EXPECT_EQ(rank.team->gather(std::span<const int>(two)), (std::vector<int>{0, 0, 1, -1, 2, -2}));
  }),
         {Ending::done, Ending::done, Ending::done});
}

TEST(ThreadTeam, BroadcastsFromTheRoot) {
  Job job(3);
  expect(job.run([](Rank& rank) {
    std::array<int, 2> data{rank.number, rank.number};
    rank.team->broadcast(std::as_writable_bytes(std::span(data)), 1);
    EXPECT_EQ(data, (std::array<int, 2>{1, 1}));
  }),
         {Ending::done, Ending::done, Ending::done});
}

TEST(ThreadTeam, GathersWhatSomeSay) {
  Job job(5);
  expect(job.run([](Rank& rank) {
    std::vector<int> mine;
    if (rank.number == 1) mine = {7, 3};
    if (rank.number == 4) mine = {5, 3};
    EXPECT_EQ(rank.team->gather_some(std::span<const int>(mine)), (std::vector<int>{3, 5, 7}));
    EXPECT_EQ(rank.team->gather_some(std::span<const int>()), std::vector<int>{});
  }),
         std::vector<Ending>(5, Ending::done));
}

TEST(ThreadTeam, AsksPeers) {
  Job job(4);
  expect(job.run([](Rank& rank) {
    const std::array<int, 2> peers{(rank.number + 1) % 4, (rank.number + 3) % 4};
    const std::vector<int> mine(static_cast<std::size_t>(rank.number), rank.number);
    for (const auto& [peer, said] : rank.team->ask(peers, std::span<const int>(mine))) {
      EXPECT_EQ(said, std::vector<int>(static_cast<std::size_t>(peer), peer));
    }
    EXPECT_EQ(rank.team->ask(peers, 10 * rank.number).at(peers[0]), 10 * peers[0]);
  }),
         std::vector<Ending>(4, Ending::done));
}

TEST(ThreadTeam, DeliversToWhomItIsFor) {
  Job job(4);
  expect(job.run([](Rank& rank) {
    // To the next one and to itself. Rank 3 tells nobody else something.
    std::map<int, std::vector<int>> words{{rank.number, {rank.number}}};
    if (rank.number < 3) words[rank.number + 1] = {10 * rank.number, 7};
    std::map<int, std::vector<int>> wanted{{rank.number, {rank.number}}};
    if (rank.number > 0) wanted[rank.number - 1] = {10 * (rank.number - 1), 7};
    EXPECT_EQ(rank.team->tell(words), wanted);
  }),
         std::vector<Ending>(4, Ending::done));
}

TEST(ThreadTeam, DeathEndsTheWaitsOfOthers) {
  Job job(3);
  job.doom(1, 0);
  expect(job.run([](Rank& rank) { rank.team->barrier(); }), {Ending::failure_seen, Ending::died, Ending::failure_seen});
}

TEST(ThreadTeam, OperationThatIsCompleteSucceedsInSpiteOfADeath) {
  Job job(2);
  job.doom(1, 1);
  std::atomic<int> passed = 0;
  expect(job.run([&](Rank& rank) {
    rank.team->barrier();
    ++passed;
    rank.team->barrier();
  }),
         {Ending::failure_seen, Ending::died});
  EXPECT_EQ(passed, 1);
}

TEST(ThreadTeam, UnluckyRanksSeeADeathAtOnce) {
  Job job(2);
  job.doom(1, 1, 1U << 0);
  std::atomic<int> passed = 0;
  expect(job.run([&](Rank& rank) {
    rank.team->barrier();
    ++passed;
  }),
         {Ending::failure_seen, Ending::died});
  EXPECT_EQ(passed, 0);
}

TEST(ThreadTeam, CheckNoticesDeathAndDissolution) {
  Job job(2);
  EXPECT_NO_THROW(job.rank(0).team->check());
  job.kill(1);
  EXPECT_THROW(job.rank(0).team->check(), fenix_impl::PeerFailure);
  job.repair();
  EXPECT_NO_THROW(job.rank(0).team->check());
  job.rank(1).team->dissolve();
  EXPECT_THROW(job.rank(0).team->check(), fenix_impl::PeerFailure);
  EXPECT_THROW(job.rank(0).team->barrier(), fenix_impl::PeerFailure);
}

TEST(ThreadTeam, WaitingForARankThatHasEndedIsAMistake) {
  Job job(2);
  const auto outcomes = job.run([](Rank& rank) {
    if (rank.number == 0) rank.team->barrier();
  });
  expect(outcomes, {Ending::broken, Ending::done});
}

TEST(ThreadTeam, DifferentCallsAreAMistake) {
  Job job(2);
  const auto outcomes = job.run([](Rank& rank) {
    if (rank.number == 0) rank.team->gather(std::uint64_t{1});
    if (rank.number == 1) rank.team->gather(std::uint32_t{1});
  });
  EXPECT_TRUE(outcomes[0] == Ending::broken || outcomes[1] == Ending::broken);
}

TEST(SimulatedJob, ReplacementHasNothing) {
  Job job(2);
  job.rank(0).buffers[1] = {1};
  job.rank(1).buffers[1] = {1};
  job.kill(1);
  job.repair();
  EXPECT_TRUE(job.rank(1).alive);
  EXPECT_TRUE(job.rank(1).buffers.empty());
  EXPECT_FALSE(job.rank(0).buffers.empty());
}

TEST(SimulatedJob, ShrinkingNumbersSurvivorsAnew) {
  Job job(3);
  job.rank(2).buffers[1] = {1};
  job.kill(1);
  job.shrink();
  EXPECT_EQ(job.size(), 2);
  EXPECT_EQ(job.rank(1).number, 1);
  EXPECT_EQ(job.rank(1).team->rank(), 1);
  EXPECT_FALSE(job.rank(1).buffers.empty());
}

}  // namespace
}  // namespace fenix_test
