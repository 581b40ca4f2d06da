// SPDX-License-Identifier: BSD-3-Clause
// XOR: every kernel set against bytes added up one by one.
#include "parity/xor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

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

class Xor : public testing::TestWithParam<Case> {
 protected:
  static constexpr std::size_t kMostSources = 40;

  // Sources of different misalignments, made once for all sizes.
  Xor() {
    for (std::size_t i = 0; i < kMostSources; ++i) sources_.push_back(random_bytes(kMostBytes, i * 37, i));
  }

  std::vector<const std::byte*> sources(std::size_t count) {
    std::vector<const std::byte*> result;
    for (std::size_t i = 0; i < count; ++i) result.push_back(sources_[i].bytes().data());
    return result;
  }

  void expect_parity(std::size_t count, std::size_t size, std::size_t misalignment) {
    const auto from = sources(count);
    GuardedBytes target = random_bytes(size, misalignment, 99);
    xor_bytes(target.bytes(), from, GetParam().stores, GetParam().simd);
    EXPECT_EQ(first_wrong(target.bytes(), from), size) << count << " sources, misaligned by " << misalignment % 64;
    EXPECT_TRUE(target.guards_unharmed()) << count << " sources of " << size << ", misaligned by " << misalignment % 64;
  }

  static std::size_t first_wrong(std::span<const std::byte> target, std::span<const std::byte* const> from) {
    std::vector<std::byte> sums(target.size());
    std::byte* const sum = sums.data();
    for (const std::byte* each : from) {
      for (std::size_t at = 0, end = target.size(); at < end; ++at) sum[at] ^= each[at];
    }
    return static_cast<std::size_t>(std::mismatch(target.begin(), target.end(), sums.begin()).first - target.begin());
  }

  static constexpr std::size_t kMostBytes = 131072;
  std::vector<GuardedBytes> sources_;
};

INSTANTIATE_TEST_SUITE_P(AllSets, Xor, testing::ValuesIn(all_cases()), [](const auto& each) {
  return std::string(name_of(each.param.simd)) + (each.param.stores == Stores::cached ? "Cached" : "Streaming");
});

TEST_P(Xor, AllSizes) {
  for (const std::size_t size : sizes_to_test()) {
    for (const auto count : std::initializer_list<std::size_t>{0, 1, 2, 3, 5, 8, 17}) {
      for (const std::size_t misalignment : {std::size_t{0}, std::size_t{1}, size * 11}) {
        expect_parity(count, size, misalignment);
      }
    }
  }
}

TEST_P(Xor, AllCountsOfSources) {
  for (std::size_t count = 0; count <= kMostSources; ++count) {
    for (const auto size : std::initializer_list<std::size_t>{63, 64, 65, 200, 1000, 5000})
      expect_parity(count, size, count);
  }
}

TEST_P(Xor, AllMisalignments) {
  for (std::size_t misalignment = 0; misalignment < 64; ++misalignment) {
    for (const auto size : std::initializer_list<std::size_t>{64, 65, 127, 128, 129, 300, 1111, 4500}) {
      expect_parity(2, size, misalignment);
      expect_parity(7, size, misalignment);
      expect_parity(20, size, misalignment);
    }
  }
}

TEST_P(Xor, TheTargetMayBeAnyOfTheSources) {
  for (const auto count : std::initializer_list<std::size_t>{1, 2, 9, 16, 17, 31, 40}) {
    for (const auto size : std::initializer_list<std::size_t>{1, 64, 100, 1000, 4100, 4200, 10000}) {
      for (const std::size_t which : {std::size_t{0}, count / 2, count - 1}) {
        GuardedBytes target = random_bytes(size, size + which, 5);
        GuardedBytes before = random_bytes(size, 0, 5);
        auto from = sources(count);
        from[which] = target.bytes().data();
        xor_bytes(target.bytes(), from, GetParam().stores, GetParam().simd);
        from[which] = before.bytes().data();
        EXPECT_EQ(first_wrong(target.bytes(), from), size) << count << " sources, number " << which;
        EXPECT_TRUE(target.guards_unharmed());
      }
    }
  }
}

TEST_P(Xor, ASourceGivenTwiceCancels) {
  auto from = sources(3);
  from.push_back(from[0]);
  from.push_back(from[1]);
  GuardedBytes target(3000, 0);
  xor_bytes(target.bytes(), from, GetParam().stores, GetParam().simd);
  EXPECT_TRUE(std::ranges::equal(target.bytes(), std::span(from[2], 3000)));
}

}  // namespace
}  // namespace fenix_impl
