// SPDX-License-Identifier: BSD-3-Clause
// Sets of elements: every operation does what it does to a set of bits.
#include "base/interval_set.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <random>
#include <utility>
#include <vector>

namespace fenix_impl {

// For messages of failed tests.
void PrintTo(const IntervalSet& set, std::ostream* out) {
  for (const Interval& each : set.intervals()) *out << "[" << each.first << ", " << each.end << ") ";
}

namespace {

constexpr std::uint64_t kBits = 70;
constexpr std::uint64_t kEndless = IntervalSet::kEndless;

using Bits = std::vector<bool>;
using Random = std::mt19937_64;

// As the class promises: ascending, disjoint, not adjacent, none empty.
void expect_sound(const IntervalSet& set) {
  const Interval* before = nullptr;
  for (const Interval& each : set.intervals()) {
    ASSERT_LT(each.first, each.end);
    if (before != nullptr) {
      ASSERT_GT(each.first, before->end);
    }
    before = &each;
  }
}

Bits bits_of(const IntervalSet& set) {
  Bits bits(kBits);
  for (const Interval& each : set.intervals()) {
    for (std::uint64_t element = each.first; element < each.end; ++element) bits.at(element) = true;
  }
  return bits;
}

IntervalSet set_of(const Bits& bits) {
  std::vector<Interval> intervals;
  for (std::uint64_t element = 0; element < bits.size(); ++element) {
    if (bits[element]) intervals.push_back({element, element + 1});
  }
  return IntervalSet::of(intervals);
}

// Sparse, dense, of long and of short pieces, empty, full.
Bits random_bits(Random& random) {
  Bits bits(kBits);
  const std::uint64_t change = 1 + random() % 20;
  const bool biased = random() % 4 == 0;
  bool value = random() % 2 == 0;
  for (std::uint64_t element = 0; element < kBits; ++element) {
    if (random() % change == 0) value = !biased && !value;
    bits[element] = value;
  }
  return bits;
}

template <class Operation>
Bits combined(const Bits& a, const Bits& b, Operation operation) {
  Bits result(kBits);
  for (std::size_t i = 0; i < kBits; ++i) result[i] = operation(a[i], b[i]);
  return result;
}

std::uint64_t number_in(const Bits& bits, std::uint64_t first, std::uint64_t end) {
  std::uint64_t number = 0;
  for (; first < end; ++first) number += first < bits.size() && bits[first] ? 1 : 0;
  return number;
}

std::uint64_t end_of(const Bits& bits) {
  std::uint64_t end = bits.size();
  while (end > 0 && !bits[end - 1]) --end;
  return end;
}

Bits without_gaps(Bits bits, std::uint64_t most) {
  const std::uint64_t end = end_of(bits);
  std::uint64_t begin = 0;
  while (begin < end && !bits[begin]) ++begin;
  for (std::uint64_t element = begin; element < end;) {
    std::uint64_t next = element;
    while (!bits[next]) ++next;
    if (next - element <= most) std::fill_n(bits.begin() + static_cast<std::ptrdiff_t>(element), next - element, true);
    element = next + 1;
  }
  return bits;
}

void expect_set(const IntervalSet& set, const Bits& expected) {
  expect_sound(set);
  ASSERT_EQ(bits_of(set), expected);
}

class IntervalSetWithRandomSets : public testing::Test {
 protected:
  template <class Body>
  void repeat(Body body) {
    for (int round = 0; round < 5000 && !HasFatalFailure(); ++round) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", round " << round);
      body();
    }
  }
  std::uint64_t some(std::uint64_t below) { return random() % below; }

  const std::random_device::result_type seed = std::random_device{}();
  Random random{seed};
};

TEST_F(IntervalSetWithRandomSets, AreMadeOfIntervalsInAnyOrder) {
  repeat([&] {
    Bits bits(kBits);
    std::vector<Interval> intervals(some(12));
    for (Interval& each : intervals) {
      each = {some(kBits), some(kBits + 1)};  // the end may come first: then it is empty
      for (std::uint64_t element = each.first; element < each.end; ++element) bits[element] = true;
    }
    expect_set(IntervalSet::of(intervals), bits);
  });
}

TEST_F(IntervalSetWithRandomSets, HaveOneFormOnly) {
  repeat([&] {
    const Bits bits = random_bits(random);
    const IntervalSet set = set_of(bits);
    expect_set(set, bits);
    std::vector<Interval> shuffled(set.intervals().begin(), set.intervals().end());
    std::shuffle(shuffled.begin(), shuffled.end(), random);
    ASSERT_EQ(IntervalSet::of(shuffled), set);
    const Bits other = random_bits(random);
    ASSERT_EQ(set == set_of(other), bits == other);
  });
}

TEST_F(IntervalSetWithRandomSets, Unite) {
  repeat([&] {
    const Bits a = random_bits(random);
    const Bits b = random_bits(random);
    expect_set(set_of(a) | set_of(b), combined(a, b, [](bool x, bool y) { return x || y; }));
  });
}

TEST_F(IntervalSetWithRandomSets, Intersect) {
  repeat([&] {
    const Bits a = random_bits(random);
    const Bits b = random_bits(random);
    expect_set(set_of(a) & set_of(b), combined(a, b, [](bool x, bool y) { return x && y; }));
  });
}

TEST_F(IntervalSetWithRandomSets, AreTakenAway) {
  repeat([&] {
    const Bits a = random_bits(random);
    const Bits b = random_bits(random);
    expect_set(set_of(a) - set_of(b), combined(a, b, [](bool x, bool y) { return x && !y; }));
  });
}

TEST_F(IntervalSetWithRandomSets, AreCounted) {
  repeat([&] {
    const Bits bits = random_bits(random);
    const IntervalSet set = set_of(bits);
    ASSERT_EQ(set.count(), number_in(bits, 0, kBits));
    ASSERT_EQ(set.end(), end_of(bits));
    ASSERT_EQ(set.empty(), end_of(bits) == 0);
  });
}

TEST_F(IntervalSetWithRandomSets, AnswerForARange) {
  repeat([&] {
    const Bits bits = random_bits(random);
    const IntervalSet set = set_of(bits);
    const std::uint64_t first = some(kBits + 3);
    const std::uint64_t end = some(kBits + 3);
    const std::uint64_t wanted = first < end ? end - first : 0;
    const std::uint64_t found = number_in(bits, first, end);
    SCOPED_TRACE(testing::Message() << "[" << first << ", " << end << ")");
    ASSERT_EQ(set.covers(first, end), found == wanted);
    ASSERT_EQ(set.meets(first, end), found > 0);
    Bits part(bits);
    for (std::uint64_t i = 0; i < kBits; ++i) part[i] = bits[i] && i >= first && i < end;
    expect_set(set.within(first, end), part);
  });
}

TEST_F(IntervalSetWithRandomSets, LoseTheirGaps) {
  repeat([&] {
    const Bits bits = random_bits(random);
    const std::uint64_t most = some(8);
    SCOPED_TRACE(testing::Message() << "gaps of at most " << most);
    expect_set(set_of(bits).without_gaps(most), without_gaps(bits, most));
  });
}

TEST(IntervalSet, OfNothingIsEmpty) {
  EXPECT_TRUE(IntervalSet().empty());
  EXPECT_TRUE(IntervalSet(5, 5).empty());
  EXPECT_TRUE(IntervalSet(6, 5).empty());
  EXPECT_TRUE(IntervalSet::of({}).empty());
  EXPECT_EQ(IntervalSet().end(), 0U);
  EXPECT_EQ(IntervalSet(), IntervalSet(9, 3));
}

TEST(IntervalSet, TakesItsEndsAsTheyAre) {
  const IntervalSet set(3, 7);
  ASSERT_EQ(set.intervals().size(), 1U);
  EXPECT_EQ(set.intervals()[0], (Interval{3, 7}));
  EXPECT_TRUE(set.covers(3, 7));
  EXPECT_FALSE(set.covers(2, 7));
  EXPECT_FALSE(set.covers(3, 8));
  EXPECT_FALSE(set.meets(0, 3));
  EXPECT_FALSE(set.meets(7, kEndless));
  EXPECT_TRUE(set.meets(6, kEndless));
}

TEST(IntervalSet, EmptyRangesAreCoveredAndNotMet) {
  for (const IntervalSet& set : {IntervalSet(), IntervalSet(3, 7), IntervalSet::everything()}) {
    for (const std::uint64_t at : {std::uint64_t{0}, std::uint64_t{5}, kEndless}) {
      EXPECT_TRUE(set.covers(at, at));
      EXPECT_FALSE(set.meets(at, at));
      EXPECT_TRUE(set.within(at, at).empty());
    }
  }
}

// Numbers near the largest one: nothing overflows.
TEST(IntervalSet, ReachesToTheEndOfNumbers) {
  const IntervalSet all = IntervalSet::everything();
  const IntervalSet last(kEndless - 2, kEndless);
  EXPECT_EQ(all.count(), kEndless);
  EXPECT_EQ(all | last, all);
  EXPECT_EQ(all & last, last);
  EXPECT_EQ(all - last, IntervalSet(0, kEndless - 2));
  EXPECT_EQ(last - all, IntervalSet());
  EXPECT_EQ((all - last) | last, all);
  EXPECT_EQ(last.within(kEndless - 1, kEndless).count(), 1U);
  EXPECT_TRUE(all.covers(0, kEndless));
  EXPECT_FALSE((all - last).covers(0, kEndless));
  EXPECT_EQ((IntervalSet(0, 1) | last).without_gaps(kEndless), all);
  const IntervalSet two = (IntervalSet(0, 1) | last).without_gaps(kEndless - 4);
  EXPECT_EQ(two.intervals().size(), 2U);
  EXPECT_EQ((IntervalSet(0, 1) | last).without_gaps(kEndless - 3), all);
}

// Few intervals are kept in the set itself, more elsewhere.
TEST(IntervalSet, KeepsAnyNumberOfIntervals) {
  IntervalSet set;
  std::vector<Interval> expected;
  for (std::uint64_t i = 0; i < 10; ++i) {
    set.append({10 * i, 10 * i + 3});
    expected.push_back({10 * i, 10 * i + 3});
    const IntervalSet copy = set;
    ASSERT_TRUE(std::equal(expected.begin(), expected.end(), copy.intervals().begin(), copy.intervals().end()));
    ASSERT_EQ(copy.count(), 3 * (i + 1));
    ASSERT_EQ(IntervalSet::of(expected), copy);
    ASSERT_EQ(copy - set, IntervalSet());
  }
  set.append({93, 95});
  EXPECT_EQ(set.end(), 95U);
  set.append({99, 100}, 4);
  EXPECT_EQ(set.intervals().size(), 10U);
}

}  // namespace
}  // namespace fenix_impl
