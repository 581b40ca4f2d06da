// SPDX-License-Identifier: BSD-3-Clause
// Which snapshots are left: those that every rank committed and still keeps.
#include "core/log/epochs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <random>
#include <utility>
#include <vector>

#include "base/error.hpp"

namespace fenix_impl {

// For messages of failed tests.
void PrintTo(const ConsistentEpochs& epochs, std::ostream* out) {
  *out << "newest " << epochs.newest.value << ", left:";
  for (const Epoch epoch : epochs.epochs) *out << " " << epoch.value;
}

namespace {

CommittedEpoch kept_from(std::uint64_t oldest, std::uint64_t epoch) { return {{epoch}, {oldest}, 0, 0}; }

// Returns the epochs of a rank that keeps all.
std::vector<CommittedEpoch> epochs(std::initializer_list<std::uint64_t> values) {
  std::vector<CommittedEpoch> list;
  for (const std::uint64_t value : values) list.push_back(kept_from(1, value));
  return list;
}

std::vector<CommittedEpoch> without(std::vector<CommittedEpoch> list, std::initializer_list<std::uint64_t> deleted) {
  for (CommittedEpoch& each : list) {
    if (std::find(deleted.begin(), deleted.end(), each.epoch.value) != deleted.end()) each.deleted = 1;
  }
  return list;
}

// Returns the epochs of a rank that keeps so many snapshots.
std::vector<CommittedEpoch> keeping(std::uint64_t kept, std::initializer_list<std::uint64_t> values) {
  auto list = epochs(values);
  for (CommittedEpoch& each : list) each.oldest_kept = {each.epoch.value < kept ? 1 : each.epoch.value - kept + 1};
  return list;
}

// None if the commits of a rank cannot be found out.
ConsistentEpochs consistent_epochs(const std::vector<CommittedEpochs>& ranks) {
  CommonEpochs all;
  for (const CommittedEpochs& each : ranks) all.merge(CommonEpochs(each));
  return all.some_unknown() ? ConsistentEpochs{} : all.consistent();
}

ConsistentEpochs expected(std::uint64_t newest, std::initializer_list<std::uint64_t> values) {
  ConsistentEpochs result{{newest}, {}};
  for (const std::uint64_t value : values) result.epochs.push_back({value});
  return result;
}

TEST(ConsistentEpochs, AreThoseOfAllRanks) {
  EXPECT_EQ(consistent_epochs({epochs({3, 4, 5}), epochs({3, 4}), epochs({2, 3, 4, 5, 6})}), expected(4, {3, 4}));
}

TEST(ConsistentEpochs, OfOneRankAreItsOwn) { EXPECT_EQ(consistent_epochs({epochs({1, 2})}), expected(2, {1, 2})); }

TEST(ConsistentEpochs, GapsStayGaps) {
  EXPECT_EQ(consistent_epochs({epochs({1, 2, 3, 4}), epochs({1, 2, 4})}), expected(4, {1, 2, 4}));
}

TEST(ConsistentEpochs, ReachDownToWhatIsKeptWithTheNewestCommonOne) {
  const auto ranks = [](std::uint64_t kept) {
    return std::vector<CommittedEpochs>{keeping(kept, {1, 2, 3, 4, 5}), keeping(kept, {1, 2, 3, 4})};
  };
  EXPECT_EQ(consistent_epochs(ranks(1)), expected(4, {4}));
  EXPECT_EQ(consistent_epochs(ranks(2)), expected(4, {3, 4}));
  EXPECT_EQ(consistent_epochs(ranks(4)), expected(4, {1, 2, 3, 4}));
  EXPECT_EQ(consistent_epochs(ranks(4096)), expected(4, {1, 2, 3, 4}));
}

// Other ranks' newer epochs, which not all have, do not end what the newest common one keeps.
TEST(ConsistentEpochs, WhatNewerEpochsKeepDoesNotCount) {
  const std::vector<CommittedEpoch> ahead{kept_from(1, 1), kept_from(1, 2), kept_from(3, 3)};
  EXPECT_EQ(consistent_epochs({ahead, epochs({1, 2})}), expected(2, {1, 2}));
}

TEST(ConsistentEpochs, WhatOlderEpochsKeepDoesNotCount) {
  const std::vector<CommittedEpoch> list{kept_from(1, 1), kept_from(2, 2), kept_from(1, 3)};
  EXPECT_EQ(consistent_epochs({list, list}), expected(3, {1, 2, 3}));
}

// The rank that keeps the least decides: it may have reused what others still have.
TEST(ConsistentEpochs, TheRankThatKeepsTheLeastDecides) {
  for (const int first : {0, 1}) {
    std::vector<CommittedEpochs> ranks{epochs({1, 2, 3, 4}), keeping(2, {1, 2, 3, 4})};
    if (first == 1) std::swap(ranks[0], ranks[1]);
    EXPECT_EQ(consistent_epochs(ranks), expected(4, {3, 4})) << first;
  }
}

TEST(ConsistentEpochs, WhatOneRankHasDeletedIsLost) {
  EXPECT_EQ(consistent_epochs({epochs({1, 2, 3}), without(epochs({1, 2, 3}), {2})}), expected(3, {1, 3}));
  EXPECT_EQ(consistent_epochs({without(epochs({1, 2, 3}), {1}), without(epochs({1, 2, 3}), {2})}), expected(3, {3}));
}

// A deleted snapshot was committed all the same: with it goes what its commit allowed to be reused.
TEST(ConsistentEpochs, TheNewestOneCountsThoughItWasDeleted) {
  EXPECT_EQ(consistent_epochs({epochs({1, 2, 3}), without(epochs({1, 2, 3}), {3})}), expected(3, {1, 2}));
  EXPECT_EQ(consistent_epochs({keeping(2, {1, 2, 3}), without(keeping(2, {1, 2, 3}), {3})}), expected(3, {2}));
  EXPECT_EQ(consistent_epochs({without(keeping(1, {1, 2}), {2})}), expected(2, {}));
}

TEST(ConsistentEpochs, NewestIsKnownThoughAllAreDeleted) {
  EXPECT_EQ(consistent_epochs({without(epochs({1, 2}), {1, 2}), epochs({1, 2})}), expected(2, {}));
}

TEST(ConsistentEpochs, AreNoneIfRanksShareNone) {
  EXPECT_EQ(consistent_epochs({epochs({1, 2}), epochs({3})}), expected(0, {}));
  EXPECT_EQ(consistent_epochs({epochs({1, 2}), epochs({})}), expected(0, {}));
}

TEST(ConsistentEpochs, AreNoneIfOneRankIsUnknown) {
  EXPECT_EQ(consistent_epochs({std::nullopt, epochs({1})}), expected(0, {}));
  EXPECT_EQ(consistent_epochs({epochs({1}), std::nullopt, epochs({1})}), expected(0, {}));
}

TEST(CommonEpochs, TellWhetherThereIsARankWithout) {
  const auto all = [](const std::vector<CommittedEpochs>& ranks) {
    CommonEpochs merged;
    for (const CommittedEpochs& each : ranks) merged.merge(CommonEpochs::decode(CommonEpochs(each).encode()));
    return CommonEpochs::decode(merged.encode());
  };
  EXPECT_FALSE(all({epochs({1}), epochs({2})}).some_had_none());
  EXPECT_FALSE(all({epochs({1}), epochs({2})}).some_unknown());
  EXPECT_TRUE(all({epochs({1}), epochs({}), epochs({2})}).some_had_none());
  EXPECT_TRUE(all({epochs({1}), std::nullopt, epochs({1})}).some_unknown());
  // The others' epochs decide.
  EXPECT_EQ(all({epochs({1}), std::nullopt, epochs({1})}).consistent(), expected(1, {1}));
}

TEST(CommonEpochs, AreNotMadeOfPieces) {
  const auto bytes = CommonEpochs(epochs({1, 2})).encode();
  for (const std::size_t length : {std::size_t{0}, std::size_t{7}, bytes.size() - 1}) {
    EXPECT_THROW((void)CommonEpochs::decode(std::span(bytes).first(length)), Error) << length;
  }
}

TEST(ConsistentEpochs, AreNoneWithoutRanks) { EXPECT_EQ(consistent_epochs({}), expected(0, {})); }

// Ranks that commit at their own pace, keep so many snapshots, and have reused the slots that they may: by the rule of
// Record::oldest_kept, once all have committed an epoch. Every epoch that counts as left must be there on all of them.
TEST(ConsistentEpochs, AreNeverWhatSomeRankHasReused) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 2000; ++round) {
    const std::uint64_t kept = 1 + random() % 4;
    const std::uint64_t slowest = 1 + random() % 10;
    std::vector<CommittedEpochs> ranks;
    std::uint64_t deleted_somewhere = 0;
    for (std::uint64_t rank = 0; rank < 2 + random() % 3; ++rank) {
      const std::uint64_t newest = rank == 0 ? slowest : slowest + random() % 3;
      const std::uint64_t deleted = random() % 12;  // an epoch, or none
      if (deleted <= slowest) deleted_somewhere |= std::uint64_t{1} << deleted;
      auto& list = ranks.emplace_back(std::in_place);
      for (std::uint64_t epoch = 1; epoch <= newest; ++epoch) {
        // Records of what was reused may be there still.
        const bool reused = epoch + kept <= slowest;
        if (reused && random() % 2 == 0) continue;
        list->push_back({{epoch}, {epoch < kept ? 1 : epoch - kept + 1}, 0, epoch == deleted ? 1U : 0U});
      }
    }
    ConsistentEpochs correct{{slowest}, {}};
    for (std::uint64_t epoch = slowest < kept ? 1 : slowest - kept + 1; epoch <= slowest; ++epoch) {
      if ((deleted_somewhere >> epoch & 1) == 0) correct.epochs.push_back({epoch});
    }
    ASSERT_EQ(consistent_epochs(ranks), correct) << "round " << round;
    // In any order, in groups, some twice, and by way of messages.
    CommonEpochs some;
    CommonEpochs others;
    for (const CommittedEpochs& each : ranks) {
      if (random() % 3 > 0) some.merge(CommonEpochs(each));
      if (random() % 3 > 0) others.merge(CommonEpochs(each));
      if (random() % 2 > 0) others.merge(CommonEpochs());
    }
    std::shuffle(ranks.begin(), ranks.end(), random);
    for (const CommittedEpochs& each : ranks) some.merge(CommonEpochs(each));
    some.merge(CommonEpochs::decode(others.encode()));
    ASSERT_EQ(CommonEpochs::decode(some.encode()).consistent(), correct) << "round " << round;
  }
}

}  // namespace
}  // namespace fenix_impl
