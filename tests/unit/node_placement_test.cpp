// SPDX-License-Identifier: BSD-3-Clause
// Groups over several nodes: all ranks of one die at once.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "base/location.hpp"
#include "parity/placement.hpp"
#include "support/group_data.hpp"

namespace fenix_test {
namespace {

using fenix_impl::Location;
using fenix_impl::order_of;
using fenix_impl::Placement;
using fenix_impl::Policy;

constexpr int kChosen = Policy::kChosen;

Policy policy(Policy::Kind kind, int separation = kChosen) {
  switch (kind) {
    case Policy::Kind::parity:
      return {kind, separation, 3, 1};
    case Policy::Kind::reed_solomon:
      return {kind, separation, 3, 2};
    default:
      return {kind, separation, 0, 1};
  }
}

const std::vector<Policy::Kind> kKinds{Policy::Kind::buddies, Policy::Kind::ring, Policy::Kind::parity,
                                       Policy::Kind::reed_solomon};

/// Ranks on nodes of up to so many, in random order.
std::vector<Location> random_nodes(int ranks, int most, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Location> all;
  for (std::uint64_t node = 1; static_cast<int>(all.size()) < ranks; ++node) {
    const int there = 1 + static_cast<int>(random() % static_cast<unsigned>(most));
    for (int i = 0; i < there && static_cast<int>(all.size()) < ranks; ++i) all.push_back({0, node * 7919 % 1009});
  }
  std::shuffle(all.begin(), all.end(), random);
  return all;
}

// Returns the largest number over all ranks.
int most(const Placement& placement, const std::vector<Location>& ranks,
         int (Placement::*of_rank)(int, const std::map<int, Location>&) const) {
  int most = 0;
  for (int rank = 0; rank < static_cast<int>(ranks.size()); ++rank) {
    std::map<int, Location> where{{rank, ranks[static_cast<std::size_t>(rank)]}};
    for (const int partner : placement.partners(rank)) where[partner] = ranks[static_cast<std::size_t>(partner)];
    most = std::max(most, (placement.*of_rank)(rank, where));
  }
  return most;
}

int most_on_a_node(const Placement& placement, const std::vector<Location>& ranks) {
  return most(placement, ranks, &Placement::most_on_a_node);
}

int most_in_a_domain(const Placement& placement, const std::vector<Location>& ranks) {
  return most(placement, ranks, &Placement::most_in_a_domain);
}

TEST(NodePlacement, RanksThatProtectEachOtherShareNoNodeIfThatCanBe) {
  for (int ranks = 2; ranks <= 40; ++ranks) {
    for (unsigned seed = 0; seed < 20; ++seed) {
      for (const int size : {2, 3, 4, 8}) {
        const int redundancy_sets = std::max(ranks / size, 1);
        const auto nodes = random_nodes(ranks, redundancy_sets, seed);
        const Placement placement({Policy::Kind::parity, kChosen, size, 1}, ranks, order_of(nodes));
        ASSERT_EQ(most_on_a_node(placement, nodes), 1) << ranks << " ranks, cohorts of " << size << ", seed " << seed;
      }
      const auto nodes = random_nodes(ranks, ranks / 2, seed);
      for (const auto kind : {Policy::Kind::buddies, Policy::Kind::ring}) {
        const Placement placement(policy(kind), ranks, order_of(nodes));
        ASSERT_EQ(most_on_a_node(placement, nodes), 1) << ranks << " ranks, seed " << seed;
        for (int rank = 0; rank < ranks; ++rank) {
          ASSERT_NE(placement.holder(rank, 0), rank);
          ASSERT_EQ(placement.kept(placement.holder(rank, 0), 0), rank);
        }
      }
    }
  }
}

TEST(NodePlacement, AndNoDomain) {
  std::vector<Location> ranks;  // two domains of two nodes of two ranks
  for (const std::uint64_t node : {1U, 1U, 2U, 2U, 3U, 3U, 4U, 4U}) ranks.push_back({1 + (node - 1) / 2, node});
  const Placement pairs(policy(Policy::Kind::buddies), 8, order_of(ranks));
  EXPECT_EQ(most_in_a_domain(pairs, ranks), 1);
  EXPECT_EQ(most_on_a_node(pairs, ranks), 1);
  // Four that share no node have two of each domain.
  const Placement redundancy_sets({Policy::Kind::reed_solomon, kChosen, 4, 2}, 8, order_of(ranks));
  EXPECT_EQ(most_on_a_node(redundancy_sets, ranks), 1);
  EXPECT_EQ(most_in_a_domain(redundancy_sets, ranks), 2);
  // With a separation of one, buddies are neighbours.
  EXPECT_EQ(most_on_a_node(Placement(policy(Policy::Kind::buddies, 1), 8, order_of(ranks)), ranks), 2);
}

TEST(NodePlacement, OnOneNodeIsThatOfHalfOfTheRanks) {
  for (int ranks = 1; ranks <= 40; ++ranks) {
    for (const auto kind : {Policy::Kind::buddies, Policy::Kind::ring}) {
      const Placement chosen(policy(kind), ranks);
      const Placement half(policy(kind, std::max(ranks / 2, 1)), ranks);
      ASSERT_EQ(chosen.copies(), half.copies());
      for (int rank = 0; rank < ranks && ranks > 1; ++rank) {
        EXPECT_EQ(chosen.holder(rank, 0), half.holder(rank, 0)) << ranks << " ranks, rank " << rank;
      }
    }
  }
}

// ------------------------------------------------------------------------------------------------------------- groups

constexpr int kNodes = 3;
constexpr int kRanksOnNode = 2;
constexpr int kRanks = kNodes * kRanksOnNode;

class NodeJob : public Job {
 public:
  explicit NodeJob(const Policy& policy) : Job(kRanks), parameters_{4, 0, 1, policy} {
    for (Rank& each : ranks()) each.location = {0, 100 + static_cast<std::uint64_t>(each.number / kRanksOnNode)};
    repair();
    form(false);
    expect_done(run([&](Rank& rank) {
      provide(rank, kLarge);
      for (int stamp = 0; stamp < 2; ++stamp) {
        store(rank, kLarge, stamp);
        rank.group->commit();
      }
      rank.group->wait_for_commit_on_all();
    }));
  }

  void form(bool shares_fate, bool lost = false) {
    expect_done(run([&](Rank& rank) {
      const auto result = join(rank, parameters_);
      EXPECT_EQ(result.snapshots_lost, lost) << "rank " << rank.number;
      EXPECT_EQ(result.shares_fate, shares_fate) << "rank " << rank.number;
      if (rank.group->find(kLarge) != nullptr) provide(rank, kLarge);
    }));
  }

  void kill_node(int node) {
    for (int i = 0; i < kRanksOnNode; ++i) kill(node * kRanksOnNode + i);
  }

  void expect_snapshots() {
    expect_done(run([](Rank& rank) {
      for (int stamp = 0; stamp < 2; ++stamp) {
        EXPECT_EQ(restore(rank, kLarge, stamp), contents(rank.origin, kLarge, stamp)) << "rank " << rank.number;
      }
    }));
  }

 private:
  fenix_impl::GroupParameters parameters_;
};

class Nodes : public testing::TestWithParam<Policy::Kind> {};

TEST_P(Nodes, MayDieOneAfterTheOther) {
  NodeJob job(policy(GetParam()));
  for (int round = 0; round < 2; ++round) {
    for (int node = 0; node < kNodes; ++node) {
      job.kill_node(node);
      job.repair();
      job.form(false);
      job.expect_snapshots();
    }
  }
}

// The places of the dead stay on one node, but it may be another one: then the order of before is what the data lies in.
TEST_P(Nodes, ReplacementsMayRunElsewhere) {
  NodeJob job(policy(GetParam()));
  job.kill_node(0);
  for (int i = 0; i < kRanksOnNode; ++i) job.rank(i).location = {0, 7};
  job.repair();
  job.form(false);
  job.expect_snapshots();
  // Rank 0 comes to where a rank of its redundancy set is, whichever that is: its two places are now on all other nodes.
  job.kill(0);
  job.rank(0).location = job.rank(2).location;
  job.kill(1);
  job.rank(1).location = job.rank(2).location;
  job.repair();
  const bool covered = policy(GetParam()).losses > 1;
  job.form(!covered);
  job.expect_snapshots();
}

TEST_P(Nodes, ADeadOneIsReadWhenTheRanksHaveShrunk) {
  NodeJob job(policy(GetParam()));
  job.kill_node(1);
  job.shrink();
  expect_done(job.run([&](Rank& rank) {
    const auto result = join(rank, {4, 0, 1, policy(GetParam())});
    EXPECT_FALSE(result.snapshots_lost);
    provide(rank, kLarge);
    for (int source = 0; source < kRanks; ++source) {
      Words target(count_of(source, kLarge));
      (void)rank.group->restore_from(kLarge, snapshot(1), {target.data(), target.size()}, source, [] {});
      EXPECT_EQ(target, contents(source, kLarge, 1)) << "source " << source;
    }
  }));
}

// Neighbours protect each other, of which two are on a node.
TEST_P(Nodes, WithABadSeparationTheDeathOfOneLosesAllThatIsNotCovered) {
  const Policy bad = policy(GetParam(), 1);
  const bool covered = bad.losses == kRanksOnNode;
  Job plain(kRanks);
  for (Rank& each : plain.ranks()) each.location = {0, 100 + static_cast<std::uint64_t>(each.number / kRanksOnNode)};
  plain.repair();
  const fenix_impl::GroupParameters parameters{4, 0, 1, bad};
  expect_done(plain.run([&](Rank& rank) {
    EXPECT_EQ(join(rank, parameters).shares_fate, !covered);
    provide(rank, kLarge);
    store(rank, kLarge, 0);
    commit_barrier(rank);
  }));
  plain.kill(0);
  plain.kill(1);
  plain.repair();
  expect_done(plain.run([&](Rank& rank) { EXPECT_EQ(join(rank, parameters).snapshots_lost, !covered); }));
}

// Nodes of one rank each: only domains can be shared. Three are enough for pairs and redundancy sets of three, two are not for the latter.
TEST_P(Nodes, ADomainThatIsSharedIsToldOf) {
  for (const int domains : {3, 2, 1}) {
    Job job(kRanks);
    for (Rank& each : job.ranks()) {
      const auto number = static_cast<std::uint64_t>(each.number);
      each.location = {1 + number % static_cast<std::uint64_t>(domains), 100 + number};
    }
    job.repair();
    const Policy chosen = policy(GetParam());
    const bool fits = domains != 2 || !chosen.encodes() || chosen.losses == 2;
    expect_done(job.run([&](Rank& rank) {
      EXPECT_EQ(join(rank, {4, 0, 1, chosen}).shares_fate, !fits) << domains << " domains";
    }));
  }
}

INSTANTIATE_TEST_SUITE_P(Policies, Nodes, testing::ValuesIn(kKinds), [](const auto& kind) {
  return std::string(kind.param == Policy::Kind::buddies  ? "Buddies"
                     : kind.param == Policy::Kind::ring   ? "Ring"
                     : kind.param == Policy::Kind::parity ? "Xor"
                                                          : "ReedSolomon");
});

}  // namespace
}  // namespace fenix_test
