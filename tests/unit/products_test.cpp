// SPDX-License-Identifier: BSD-3-Clause
// Sums of products in GF(2^8): every coefficient times every byte, by every kernel set that has them.
#include "parity/products.hpp"

#include <gtest/gtest.h>
#include <isa-l/erasure_code.h>

#include <algorithm>
#include <vector>

#include "support/guarded_bytes.hpp"

namespace fenix_impl {
namespace {

constexpr std::size_t kValues = 256;

GuardedBytes all_values() {
  GuardedBytes values(kValues, 1);
  for (std::size_t i = 0; i < kValues; ++i) values.bytes()[i] = static_cast<std::byte>(i);
  return values;
}

std::byte product_of(std::byte a, std::byte b) {
  return static_cast<std::byte>(gf_mul(std::to_integer<unsigned char>(a), std::to_integer<unsigned char>(b)));
}

std::vector<Simd> sets_with_products() {
  GuardedBytes from = all_values();
  GuardedBytes to(kValues, 0);
  const std::vector<const std::byte*> sources{from.bytes().data()};
  const std::vector<std::uint64_t> matrices{matrix_of(1)};
  std::vector<Simd> sets;
  for (const Simd simd : available_simd()) {
    if (sum_of_products(to.bytes(), sources, matrices, Stores::cached, simd)) sets.push_back(simd);
  }
  return sets;
}

TEST(Products, AreThereWhereTheProcessorHasThem) {
#if defined(__x86_64__)
  const auto sets = available_simd();
  const auto vectors =
      std::ranges::count_if(sets, [](Simd each) { return each == Simd::avx2 || each == Simd::avx512; });
  EXPECT_EQ(static_cast<std::ptrdiff_t>(sets_with_products().size()), __builtin_cpu_supports("gfni") ? vectors : 0);
#else
  EXPECT_TRUE(sets_with_products().empty());
#endif
}

TEST(Products, EveryCoefficientTimesEveryByte) {
  GuardedBytes from = all_values();
  const std::vector<const std::byte*> sources{from.bytes().data()};
  for (const Simd simd : sets_with_products()) {
    for (std::size_t coefficient = 0; coefficient < kValues; ++coefficient) {
      GuardedBytes to(kValues, 3);
      const std::vector<std::uint64_t> matrices{matrix_of(static_cast<std::uint8_t>(coefficient))};
      ASSERT_TRUE(sum_of_products(to.bytes(), sources, matrices, Stores::cached, simd));
      for (std::size_t i = 0; i < kValues; ++i) {
        ASSERT_EQ(to.bytes()[i], product_of(static_cast<std::byte>(coefficient), static_cast<std::byte>(i)))
            << coefficient << " times " << i;
      }
    }
  }
}

TEST(Products, AnySizeAlignmentAndNumberOfSources) {
  for (const Simd simd : sets_with_products()) {
    for (const Stores stores : {Stores::cached, Stores::streaming}) {
      for (const std::size_t size : sizes_to_test()) {
        const std::size_t count = 1 + size % 11;
        std::vector<GuardedBytes> from;
        std::vector<const std::byte*> sources;
        std::vector<std::uint64_t> matrices;
        std::vector<std::byte> expected(size);
        for (std::size_t i = 0; i < count; ++i) {
          const auto coefficient = static_cast<std::byte>(37 * i + size);
          from.push_back(random_bytes(size, size + i, i));
          sources.push_back(from.back().bytes().data());
          matrices.push_back(matrix_of(std::to_integer<std::uint8_t>(coefficient)));
          for (std::size_t at = 0; at < size; ++at) expected[at] ^= product_of(coefficient, sources.back()[at]);
        }
        GuardedBytes to(size, size / 3);
        const bool done = sum_of_products(to.bytes(), sources, matrices, stores, simd);
        ASSERT_EQ(done, size >= kLeastOfProducts);
        ASSERT_TRUE(!done || std::ranges::equal(to.bytes(), expected)) << size << " bytes, " << name_of(simd);
        ASSERT_TRUE(to.guards_unharmed()) << size << " bytes, " << name_of(simd);
      }
    }
  }
}

}  // namespace
}  // namespace fenix_impl
