// SPDX-License-Identifier: BSD-3-Clause
#include "base/recent_map.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <random>
#include <utility>

namespace fenix_impl {
namespace {

/// Many keys have the same place.
struct Hash {
  std::size_t operator()(int key) const { return static_cast<std::size_t>(key % 3); }
};
using Numbers = RecentMap<int, int, Hash>;

TEST(RecentMap, FindsWhatAMapFinds) {
  constexpr int kKeys = 12;
  constexpr int kSteps = 20'000;
  Numbers numbers;
  std::map<int, int> expected;
  std::mt19937 random(1);
  for (int step = 0; step < kSteps; ++step) {
    const int key = static_cast<int>(random() % kKeys);
    switch (random() % 8) {
      case 0: {
        const auto suits = [&](const auto& each) { return each.first % 4 == key % 4; };
        numbers.erase_if(suits);
        std::erase_if(expected, suits);
        break;
      }
      case 1:
      case 2:
      case 3: {
        const auto found = expected.find(key);
        const int* const number = numbers.find(key);
        ASSERT_EQ(number != nullptr, found != expected.end());
        if (number != nullptr) {
          ASSERT_EQ(*number, found->second);
        }
        break;
      }
      default:
        numbers[key] += step;
        expected[key] += step;
    }
    ASSERT_EQ(numbers.all(), expected);
  }
}

TEST(RecentMap, ForgetsWhatIsCleared) {
  Numbers numbers;
  numbers[1] = 7;
  numbers.clear();
  EXPECT_EQ(numbers.find(1), nullptr);
  EXPECT_EQ(numbers[1], 0);
}

TEST(RecentMap, CopiesAndMovesWithoutItsPlaces) {
  Numbers numbers;
  numbers[1] = 7;
  Numbers copy = numbers;
  copy[1] = 8;
  EXPECT_EQ(numbers[1], 7);
  Numbers moved = std::move(copy);
  EXPECT_EQ(moved[1], 8);
  EXPECT_EQ(copy.find(1), nullptr);  // NOLINT(bugprone-use-after-move): it is empty
  numbers = std::move(moved);
  EXPECT_EQ(numbers[1], 8);
  moved[1] = 9;  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(numbers[1], 8);
  numbers = {};
  EXPECT_EQ(numbers.find(1), nullptr);
}

}  // namespace
}  // namespace fenix_impl
