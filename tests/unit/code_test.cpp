// SPDX-License-Identifier: BSD-3-Clause
// Reed–Solomon codes: what is lost comes back byte for byte, from any positions that are enough.
#include "parity/code.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "support/guarded_bytes.hpp"

namespace fenix_impl {
namespace {

// GF(2^8) by its definition: polynomials modulo x^8 + x^4 + x^3 + x^2 + 1.
std::uint8_t product(std::uint8_t a, std::uint8_t b) {
  unsigned result = 0;
  unsigned shifted = a;
  for (unsigned bits = b; bits != 0; bits >>= 1, shifted <<= 1) {
    if ((bits & 1U) != 0) result ^= shifted;
  }
  for (unsigned bit = 15; bit >= 8; --bit) {
    if (((result >> bit) & 1U) != 0) result ^= 0x11DU << (bit - 8);
  }
  return static_cast<std::uint8_t>(result);
}

/// All positions of a code, with random data.
class Stripe {
 public:
  Stripe(const Code& code, std::size_t bytes, Stores stores = Stores::cached, std::size_t misalignment = 0)
      : code_(code), bytes_(bytes), stores_(stores) {
    for (int i = 0; i < code.data(); ++i) {
      positions_.push_back(
          random_bytes(bytes, static_cast<std::size_t>(i) * misalignment, static_cast<std::uint64_t>(i)));
    }
    std::vector<int> data(static_cast<std::size_t>(code.data()));
    std::iota(data.begin(), data.end(), 0);
    for (int i = 0; i < code.parity(); ++i) {
      GuardedBytes parity(bytes, misalignment);
      code.combination(code.data() + i, data).apply(parity.bytes(), pointers(data), stores);
      EXPECT_TRUE(parity.guards_unharmed());
      positions_.push_back(std::move(parity));
    }
  }

  std::span<std::byte> operator[](int position) { return positions_[static_cast<std::size_t>(position)].bytes(); }

  std::vector<const std::byte*> pointers(std::span<const int> which) {
    std::vector<const std::byte*> result;
    for (const int each : which) result.push_back((*this)[each].data());
    return result;
  }

  [[nodiscard]] bool recovers(int target, std::span<const int> sources) {
    GuardedBytes result(bytes_, static_cast<std::size_t>(target));
    code_.combination(target, sources).apply(result.bytes(), pointers(sources), stores_);
    EXPECT_TRUE(result.guards_unharmed());
    return std::ranges::equal(result.bytes(), (*this)[target]);
  }

 private:
  const Code& code_;
  std::size_t bytes_;
  Stores stores_;
  std::vector<GuardedBytes> positions_;
};

std::vector<int> positions_in(unsigned set) {
  std::vector<int> result;
  for (int i = 0; i < 32; ++i) {
    if (((set >> i) & 1U) != 0) result.push_back(i);
  }
  return result;
}

TEST(Code, EveryPositionComesBackFromEveryChoiceOfOthers) {
  std::size_t recovered = 0;
  for (int data = 1; data <= 6; ++data) {
    for (int parity = 0; parity <= 4; ++parity) {
      const Code code(data, parity);
      Stripe stripe(code, 97);
      // Any set of data positions is what may be left when up to parity are lost, or what may be chosen of it.
      for (unsigned set = 0; set < 1U << (data + parity); ++set) {
        if (std::popcount(set) != data) continue;
        const auto sources = positions_in(set);
        for (int target = 0; target < data + parity; ++target) {
          if (((set >> target) & 1U) != 0) continue;
          ASSERT_TRUE(stripe.recovers(target, sources))
              << data << "+" << parity << ": " << target << " from the set " << std::hex << set;
          ++recovered;
        }
      }
    }
  }
  EXPECT_GT(recovered, 2000U);
}

TEST(Code, TheOrderOfSourcesDoesNotMatter) {
  const Code code(5, 3);
  Stripe stripe(code, 300);
  std::vector<int> all(8);
  std::iota(all.begin(), all.end(), 0);
  std::mt19937 random(1);
  for (int i = 0; i < 500; ++i) {
    std::ranges::shuffle(all, random);
    ASSERT_TRUE(stripe.recovers(all[5], std::span(all).first(5)));
  }
}

TEST(Code, ManyDataPositions) {
  std::mt19937 random(2);
  for (const int data : {7, 16, 31, 64, 100, 128, 200, 251}) {
    for (const int parity : {1, 2, 3, 4}) {
      const Code code(data, parity);
      Stripe stripe(code, 70);
      std::vector<int> all(static_cast<std::size_t>(data + parity));
      std::iota(all.begin(), all.end(), 0);
      for (int i = 0; i < 20; ++i) {
        std::ranges::shuffle(all, random);
        const auto sources = std::span(all).first(static_cast<std::size_t>(data));
        for (int lost = data; lost < data + parity; ++lost) {
          ASSERT_TRUE(stripe.recovers(all[static_cast<std::size_t>(lost)], sources)) << data << "+" << parity;
        }
      }
      // As many data positions lost as can be.
      std::vector<int> rest(static_cast<std::size_t>(data));
      std::iota(rest.begin(), rest.end(), parity);
      for (int lost = 0; lost < parity; ++lost) ASSERT_TRUE(stripe.recovers(lost, rest)) << data << "+" << parity;
    }
  }
}

TEST(Code, EverySetOfKernelsMakesTheSame) {
  const Code code(6, 3);
  Stripe stripe(code, 20001);
  const std::vector<int> sources{8, 1, 6, 3, 7, 5};
  for (const Simd simd : available_simd()) {
    for (const Stores stores : {Stores::cached, Stores::streaming}) {
      for (const int target : {0, 2, 4}) {
        GuardedBytes result(20001, 5);
        code.combination(target, sources).apply(result.bytes(), stripe.pointers(sources), stores, simd);
        EXPECT_TRUE(std::ranges::equal(result.bytes(), stripe[target])) << name_of(simd);
        EXPECT_TRUE(result.guards_unharmed());
      }
    }
  }
}

TEST(Code, AllSizesAndAlignmentsCachedAndStreaming) {
  const Code code(3, 2);
  for (const Stores stores : {Stores::cached, Stores::streaming}) {
    for (const std::size_t size : sizes_to_test()) {
      Stripe stripe(code, size, stores, size % 64);
      ASSERT_TRUE(stripe.recovers(0, std::vector{1, 2, 4})) << size;
      ASSERT_TRUE(stripe.recovers(1, std::vector{3, 0, 2})) << size;
      ASSERT_TRUE(stripe.recovers(2, std::vector{4, 3, 1})) << size;
    }
  }
}

TEST(Code, MoreThanIsComputedAtOnce) {
  const Code code(2, 2);
  for (const std::size_t size : {(1U << 20) - 1, 1U << 20, (1U << 20) + 1, (2U << 20) + 77}) {
    Stripe stripe(code, size);
    EXPECT_TRUE(stripe.recovers(0, std::vector{1, 3})) << size;
    EXPECT_TRUE(stripe.recovers(1, std::vector{2, 3})) << size;
  }
}

TEST(Code, AParityIsTheSumThatItsCoefficientsSay) {
  const Code code(4, 3);
  Stripe stripe(code, 200);
  const std::vector<int> data{0, 1, 2, 3};
  for (int parity = 4; parity < 7; ++parity) {
    const auto combination = code.combination(parity, data);
    for (std::size_t at = 0; at < 200; ++at) {
      unsigned sum = 0;
      for (const int each : data) {
        sum ^= product(combination.coefficients()[static_cast<std::size_t>(each)],
                       std::to_integer<std::uint8_t>(stripe[each][at]));
      }
      ASSERT_EQ(static_cast<std::byte>(sum), stripe[parity][at]) << parity << " at " << at;
    }
  }
}

TEST(Code, AWrongCoefficientIsSeen) {
  const Code code(4, 2);
  Stripe stripe(code, 200);
  const std::vector<int> sources{0, 2, 4, 5};
  const auto right = code.combination(1, sources);
  for (std::size_t which = 0; which < 4; ++which) {
    std::vector<std::uint8_t> wrong(right.coefficients().begin(), right.coefficients().end());
    wrong[which] ^= 1;
    GuardedBytes result(200, 0);
    Combination(wrong).apply(result.bytes(), stripe.pointers(sources), Stores::cached);
    EXPECT_FALSE(std::ranges::equal(result.bytes(), stripe[1])) << which;
  }
}

// Data that has been stored must be decoded by later versions too.
TEST(Code, TheCoefficientsStayWhatTheyAre) {
  const std::vector<int> data{0, 1, 2, 3};
  const Code code(4, 4);
  const auto row = [&](int parity) {
    const auto combination = code.combination(parity, data);
    return std::vector<int>(combination.coefficients().begin(), combination.coefficients().end());
  };
  EXPECT_EQ(row(4), (std::vector{1, 1, 1, 1}));
  for (int parity = 5; parity < 8; ++parity) {
    for (int each = 0; each < 4; ++each) {
      // Cauchy: 1 / (row ^ column), over that of the first row.
      const auto value = static_cast<std::uint8_t>(row(parity)[static_cast<std::size_t>(each)]);
      EXPECT_EQ(product(value, static_cast<std::uint8_t>(parity ^ each)), 4 ^ each) << parity << ", " << each;
    }
  }
}

TEST(Code, OneParityIsXor) {
  const Code code(5, 1);
  for (int target = 0; target <= 5; ++target) {
    std::vector<int> sources;
    for (int each = 0; each <= 5; ++each) {
      if (each != target) sources.push_back(each);
    }
    const auto combination = code.combination(target, sources);
    EXPECT_TRUE(std::ranges::all_of(combination.coefficients(), [](int each) { return each == 1; })) << target;
  }
}

TEST(Code, SourcesThatAreNotNeededAreNotRead) {
  Combination combination({0, 1, 0});
  GuardedBytes source = random_bytes(100, 0, 1);
  GuardedBytes target(100, 0);
  combination.apply(target.bytes(), std::vector<const std::byte*>{nullptr, source.bytes().data(), nullptr},
                    Stores::cached);
  EXPECT_TRUE(std::ranges::equal(target.bytes(), source.bytes()));
  Combination scaled({0, 2, 0});
  scaled.apply(target.bytes(), std::vector<const std::byte*>{nullptr, source.bytes().data(), nullptr}, Stores::cached);
  for (std::size_t at = 0; at < 100; ++at) {
    EXPECT_EQ(std::to_integer<std::uint8_t>(target.bytes()[at]),
              product(2, std::to_integer<std::uint8_t>(source.bytes()[at])));
  }
  Combination none({0, 0});
  none.apply(target.bytes(), std::vector<const std::byte*>{nullptr, nullptr}, Stores::cached);
  EXPECT_TRUE(std::ranges::all_of(target.bytes(), [](std::byte each) { return each == std::byte{0}; }));
}

TEST(Code, WrongNumbersAreRefused) {
  EXPECT_THROW(Code(0, 1), Error);
  EXPECT_THROW(Code(-1, 1), Error);
  EXPECT_THROW(Code(4, -1), Error);
  EXPECT_THROW(Code(4, 5), Error);
  EXPECT_THROW(Code(252, 4), Error);
  EXPECT_NO_THROW(Code(251, 4));
  EXPECT_NO_THROW(Code(255, 0));
}

TEST(Code, WrongPositionsAreRefused) {
  const Code code(3, 2);
  EXPECT_THROW((void)code.combination(0, std::vector{1, 2}), Error);
  EXPECT_THROW((void)code.combination(0, std::vector{1, 2, 3, 4}), Error);
  EXPECT_THROW((void)code.combination(0, std::vector{1, 2, 2}), Error);
  EXPECT_THROW((void)code.combination(0, std::vector{0, 1, 2}), Error);
  EXPECT_THROW((void)code.combination(0, std::vector{1, 2, 5}), Error);
  EXPECT_THROW((void)code.combination(5, std::vector{0, 1, 2}), Error);
  EXPECT_THROW((void)code.combination(-1, std::vector{0, 1, 2}), Error);
}

}  // namespace
}  // namespace fenix_impl
