// SPDX-License-Identifier: BSD-3-Clause
// Which kernels are used: the best that there are, or what FENIX_SIMD names.
#include "base/simd/simd.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <string>

#include "base/environment.hpp"
#include "base/environment_checks.hpp"

namespace fenix_impl {
namespace {

// simd() decides once in a process, so each answer takes a process of its own.
void expect_choice(const char* wanted, Simd expected) {
  EXPECT_EXIT(
      {
        setenv("FENIX_SIMD", wanted, 1);
        std::_Exit(simd() == expected ? 0 : 1);
      },
      testing::ExitedWithCode(0), "")
      << wanted;
}

TEST(Simd, AllSetsOfThisMachineGrowFromScalar) {
  const auto sets = available_simd();
  ASSERT_FALSE(sets.empty());
  EXPECT_EQ(sets.front(), Simd::scalar);
  for (std::size_t i = 1; i < sets.size(); ++i) EXPECT_LT(sets[i - 1], sets[i]);
}

TEST(Simd, TheVariableChoosesAnyAvailableSet) {
  for (const Simd each : available_simd()) expect_choice(name_of(each), each);
}

TEST(Simd, WhatIsUnknownOrMissingFallsBackToTheBest) {
  expect_choice("", available_simd().back());
  expect_choice("sse9", available_simd().back());
#if defined(__aarch64__)
  expect_choice("avx2", available_simd().back());
#else
  expect_choice("neon", available_simd().back());
#endif
}

TEST(Simd, WhatThisMachineLacksIsSaid) {
#if defined(__aarch64__)
  setenv("FENIX_SIMD", "avx2", 1);
#else
  setenv("FENIX_SIMD", "neon", 1);
#endif
  const auto told = environment::ignored();
  unsetenv("FENIX_SIMD");
  ASSERT_EQ(told.size(), 1U);
  EXPECT_NE(told[0].find("which this machine does not have; "), std::string::npos) << told[0];
}

TEST(Simd, NamesAreThoseOfTheVariable) {
  EXPECT_STREQ(name_of(Simd::scalar), "scalar");
  EXPECT_STREQ(name_of(Simd::neon), "neon");
  EXPECT_STREQ(name_of(Simd::avx2), "avx2");
  EXPECT_STREQ(name_of(Simd::avx512), "avx512");
}

}  // namespace
}  // namespace fenix_impl
