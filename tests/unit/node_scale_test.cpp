// SPDX-License-Identifier: BSD-3-Clause
// The costs of one rank on a node with many others, in a job of many nodes: mappings, descriptors, regions that are opened, messages. The
// formulas are those of bench/scaling/scaling.md, "One node".
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <set>
#include <string_view>

#include "base/fault.hpp"
#include "parity/placement.hpp"
#include "support/large_job.hpp"

namespace fenix_test {
namespace {

using fenix_impl::Placement;
using fenix_impl::Policy;

int rounds(int ranks) { return static_cast<int>(std::bit_width(static_cast<unsigned>(ranks) - 1)); }

// Returns how many ranks of the node rank 0 works with: its partners, and those that it tells of commits.
int reached_by_group(int ranks, int on_node, const std::set<int>& partners) {
  std::set<int> reached = partners;
  for (int distance = 1; distance < ranks; distance *= 2) reached.insert(distance);
  return static_cast<int>(std::ranges::count_if(reached, [&](int rank) { return rank < on_node; }));
}

constexpr Policy kRing{Policy::Kind::ring, 1, 0, 1};

struct Size {
  int ranks;
  int on_node;
};
constexpr Size kSizes[] = {{8, 8}, {32, 32}, {128, 128}, {512, 128}, {10'000, 128}};

template <class Body>
void for_each_size(Body&& body) {
  for (const auto& [ranks, on_node] : kSizes) {
    SCOPED_TRACE(testing::Message() << ranks << " ranks, " << on_node << " on the node");
    LargeJob job(ranks, on_node, kRing);
    body(job, ranks, on_node);
  }
}

// The copy is on the next rank, and this one has that of the last. A region takes the mapping and the descriptor of its owner, a mapping
// for each other rank that is reached, and a descriptor for the rank that is kept.
TEST(NodeScale, MapsTheRegionsThatItReaches) {
  for_each_size([](LargeJob& job, int ranks, int on_node) {
    const int partners = ranks == on_node ? 2 : 1;
    EXPECT_EQ(job.create_group(), (InUse{1 + reached_by_group(ranks, on_node, {1, ranks - 1}), 2}));
    for (int id = 0; id < 3; ++id) EXPECT_EQ(job.create_member(id), (InUse{1 + partners, 2}));
    EXPECT_EQ(job.create_member(3, true), (InUse{1 + partners + 1, 4})) << "with a buffer";
    EXPECT_EQ(job.store_and_commit(0), InUse{});
    EXPECT_EQ(job.store_and_commit(3), InUse{});
  });
}

TEST(NodeScale, MapsTheRegionsOfItsCohort) {
  constexpr int kOnNode = 128;
  constexpr int kSetSize = 8;
  const Policy policy{Policy::Kind::parity, 1, kSetSize, 1};
  const auto partners = Placement(policy, kOnNode).partners(0);
  ASSERT_EQ(partners.size(), kSetSize - 1U);
  LargeJob job(kOnNode, kOnNode, policy);
  EXPECT_EQ(job.create_group(),
            (InUse{1 + reached_by_group(kOnNode, kOnNode, std::set<int>(partners.begin(), partners.end())), 2}));
  EXPECT_EQ(job.create_member(0), (InUse{kSetSize, 2}));
}

// Addresses are gathered along the node, by as many messages as the logarithm of its ranks.
TEST(NodeScale, MessagesGrowWithTheLogarithm) {
  for_each_size([](LargeJob& job, int ranks, int on_node) {
    (void)job.create_group();
    EXPECT_LE(job.traffic.messages, 13 * rounds(ranks) + rounds(on_node) + 8);
    (void)job.create_member(0);
    EXPECT_LE(job.traffic.messages, 9 * rounds(ranks) + rounds(on_node) + 8);
    (void)job.create_member(1, true);
    EXPECT_LE(job.traffic.messages, 11 * rounds(ranks) + 2 * rounds(on_node) + 8);
  });
}

TEST(NodeScale, CommitsDoNotGrowWithTheNode) {
  for_each_size([](LargeJob& job, int ranks, int) {
    (void)job.create_group();
    (void)job.create_member(0);
    (void)job.store_and_commit(0);  // the first one agrees on sizes
    (void)job.store_and_commit(0);
    EXPECT_EQ(job.traffic.messages, 0) << ranks;
    EXPECT_EQ(job.traffic.gets, 0);
    EXPECT_LE(job.traffic.words, 2 * rounds(ranks));
  });
}

#ifdef FENIX_FAULT_INJECTION

long opened = 0;

bool count_opened(const char* point) {
  opened += std::string_view(point) == "peer.open" ? 1 : 0;
  return false;
}

// Each region that is mapped, and the one that is kept.
TEST(NodeScale, OpensTheRegionsThatItReaches) {
  for_each_size([](LargeJob& job, int ranks, int on_node) {
    const int partners = ranks == on_node ? 2 : 1;
    fenix_impl::set_fault_hook(count_opened);
    opened = 0;
    (void)job.create_group();
    EXPECT_EQ(opened, reached_by_group(ranks, on_node, {1, ranks - 1}) + 1);
    opened = 0;
    (void)job.create_member(0);
    EXPECT_EQ(opened, partners + 1);
    fenix_impl::set_fault_hook(nullptr);
  });
}

#endif

}  // namespace
}  // namespace fenix_test
