// SPDX-License-Identifier: BSD-3-Clause
// Copies: every kernel set, cached and streaming, any size and alignment; the hash is that of xxHash itself.
#include "base/simd/copy.hpp"

#include <gtest/gtest.h>

#include <xxhash.h>

#include <algorithm>
#include <string>

#include "base/simd/hash.hpp"
#include "support/guarded_bytes.hpp"

namespace fenix_impl {
namespace {

struct Case {
  Simd simd;
  Stores stores;
};

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const Simd simd : available_simd()) {
    for (const Stores stores : {Stores::cached, Stores::streaming}) cases.push_back({simd, stores});
  }
  return cases;
}

class Copy : public testing::TestWithParam<Case> {};

INSTANTIATE_TEST_SUITE_P(AllSets, Copy, testing::ValuesIn(all_cases()), [](const auto& each) {
  return std::string(name_of(each.param.simd)) + (each.param.stores == Stores::cached ? "Cached" : "Streaming");
});

// Misalignments of source and targets: all aligned, both targets alike, all different, and others with the seed.
struct Alignments {
  std::size_t from, to, also_to;
};
std::vector<Alignments> alignments(std::size_t seed) {
  return {{0, 0, 0}, {1, 0, 0}, {0, 8, 8}, {3, 63, 63}, {0, 1, 63}, {seed, seed * 7, seed * 13}, {63, 32, 0}};
}

void expect_same(GuardedBytes& target, GuardedBytes& from, const std::string& where) {
  EXPECT_TRUE(std::ranges::equal(target.bytes(), from.bytes())) << where;
  EXPECT_TRUE(target.guards_unharmed()) << where;
}

TEST_P(Copy, CopiesOnceAndTwice) {
  for (const std::size_t size : sizes_to_test()) {
    for (const auto& misaligned : alignments(size)) {
      const auto where = std::to_string(size) + " bytes to " + std::to_string(misaligned.to % 64) + " and " +
                         std::to_string(misaligned.also_to % 64);
      GuardedBytes from = random_bytes(size, misaligned.from, size);
      GuardedBytes once(size, misaligned.to);
      copy_bytes(once.bytes(), from.bytes(), GetParam().stores, GetParam().simd);
      expect_same(once, from, where);
      GuardedBytes to(size, misaligned.to);
      GuardedBytes also_to(size, misaligned.also_to);
      copy_twice(to.bytes(), also_to.bytes(), from.bytes(), GetParam().stores, GetParam().simd);
      expect_same(to, from, where);
      expect_same(also_to, from, where);
    }
  }
}

TEST_P(Copy, HashesWhatItCopies) {
  for (const std::size_t size : sizes_to_test()) {
    for (const auto& misaligned : alignments(size)) {
      const auto where = std::to_string(size) + " bytes to " + std::to_string(misaligned.to % 64) + " and " +
                         std::to_string(misaligned.also_to % 64);
      GuardedBytes from = random_bytes(size, misaligned.from, size);
      const std::uint64_t hash = XXH3_64bits(from.bytes().data(), size);
      GuardedBytes once(size, misaligned.to);
      EXPECT_EQ(copy_and_hash(once.bytes(), {}, from.bytes(), GetParam().stores, GetParam().simd), hash) << where;
      expect_same(once, from, where);
      GuardedBytes to(size, misaligned.to);
      GuardedBytes also_to(size, misaligned.also_to);
      EXPECT_EQ(copy_and_hash(to.bytes(), also_to.bytes(), from.bytes(), GetParam().stores, GetParam().simd), hash)
          << where;
      expect_same(to, from, where);
      expect_same(also_to, from, where);
    }
  }
}

TEST_P(Copy, LeavesTheRestOfLargerTargets) {
  GuardedBytes from = random_bytes(5000, 0, 1);
  GuardedBytes to = random_bytes(6000, 0, 2);
  GuardedBytes also_to = random_bytes(6000, 5, 2);
  GuardedBytes before = random_bytes(6000, 0, 2);
  (void)copy_and_hash(to.bytes(), also_to.bytes(), from.bytes(), GetParam().stores, GetParam().simd);
  for (auto* target : {&to, &also_to}) {
    EXPECT_TRUE(std::ranges::equal(target->bytes().first(5000), from.bytes()));
    EXPECT_TRUE(std::ranges::equal(target->bytes().subspan(5000), before.bytes().subspan(5000)));
  }
}

// With FENIX_SIMD unset this is the best set; the others are seen by the tests above.
TEST(Hash, IsThatOfXxHash) {
  for (const std::size_t size : sizes_to_test()) {
    GuardedBytes bytes = random_bytes(size, size, size);
    EXPECT_EQ(hash_bytes(bytes.bytes()), XXH3_64bits(bytes.bytes().data(), size)) << size;
    EXPECT_EQ(hash_bytes(bytes.bytes(), 7), XXH3_64bits_withSeed(bytes.bytes().data(), size, 7)) << size;
  }
}

TEST(Hash, SeesEveryBit) {
  GuardedBytes bytes = random_bytes(2500, 1, 1);
  const std::uint64_t hash = hash_bytes(bytes.bytes());
  for (std::byte& each : bytes.bytes()) {
    for (int bit = 0; bit < 8; ++bit) {
      each ^= std::byte{1} << bit;
      EXPECT_NE(hash_bytes(bytes.bytes()), hash);
      each ^= std::byte{1} << bit;
    }
  }
}

TEST(Streaming, ALotIsWorthStreamingAndALittleIsNot) {
  EXPECT_FALSE(worth_streaming(0));
  EXPECT_FALSE(worth_streaming(std::uint64_t{128} << 10));
  EXPECT_TRUE(worth_streaming(std::uint64_t{1} << 30));
}

TEST(Streaming, PaysSoonerWhereMoreProcessesShareTheCaches) {
  const auto least = [](std::uint64_t processes) {
    expect_processes_on_node(processes);
    std::uint64_t bytes = 1;
    while (!worth_streaming(bytes)) bytes *= 2;
    return bytes;
  };
  const std::uint64_t alone = least(1);
  EXPECT_LT(least(1 << 20), alone);
  EXPECT_EQ(least(1), alone);
}

}  // namespace
}  // namespace fenix_impl
