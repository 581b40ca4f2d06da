// SPDX-License-Identifier: BSD-3-Clause
// DataSubset against sets of single elements, and to the C interface and back.
#include <fenix.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using fenix::DataSubset;
using Bounds = DataSubset::Bounds;
using Elements = std::set<std::size_t>;
using Blocks = std::vector<Bounds>;

constexpr std::size_t kMax = DataSubset::MAX;
constexpr std::size_t kRange = 40;

Elements elements_of(const DataSubset& subset) {
  Elements elements;
  for (std::size_t i = 0; i < 2 * kRange; ++i) {
    if (subset.includes(i)) elements.insert(i);
  }
  return elements;
}

Elements elements_of(const Blocks& blocks) {
  Elements elements;
  for (const auto& [first, last] : blocks) {
    for (std::size_t i = first; i <= last; ++i) elements.insert(i);
  }
  return elements;
}

Blocks random_blocks(std::mt19937& random) {
  Blocks blocks(random() % 6);
  for (auto& [first, last] : blocks) {
    first = random() % kRange;
    last = first + random() % 8;
  }
  return blocks;
}

// Ascending, disjoint, not adjacent: then equal sets have equal blocks.
void expect_shortest_form(const DataSubset& subset) {
  const Blocks& blocks = subset.blocks();
  for (const auto& [first, last] : blocks) EXPECT_LE(first, last);
  for (std::size_t i = 1; i < blocks.size(); ++i) EXPECT_GT(blocks[i].first, blocks[i - 1].second + 1);
}

Elements joined(Elements a, const Elements& b) {
  a.insert(b.begin(), b.end());
  return a;
}

Elements chosen(const Elements& a, const Elements& b, bool in_b) {
  Elements result;
  std::copy_if(a.begin(), a.end(), std::inserter(result, result.end()),
               [&](std::size_t element) { return (b.count(element) != 0) == in_b; });
  return result;
}

TEST(DataSubset, OperationsAreThoseOfSets) {
  std::mt19937 random(20);
  for (int round = 0; round < 2000; ++round) {
    const Blocks x = random_blocks(random);
    const Blocks y = random_blocks(random);
    SCOPED_TRACE(testing::Message() << "round " << round);
    const DataSubset a(x);
    const DataSubset b(y);
    const Elements in_a = elements_of(x);
    const Elements in_b = elements_of(y);
    EXPECT_EQ(elements_of(a), in_a);
    EXPECT_EQ(elements_of(a + b), joined(in_a, in_b));
    EXPECT_EQ(elements_of(a - b), chosen(in_a, in_b, false));
    EXPECT_EQ(elements_of(a & b), chosen(in_a, in_b, true));
    EXPECT_EQ(a == b, in_a == in_b);
    EXPECT_EQ(a != b, in_a != in_b);
    EXPECT_EQ(DataSubset(a, b), a + b);
    EXPECT_EQ((a & b) + (a - b), a);
    EXPECT_EQ(a.count(), in_a.size());
    EXPECT_EQ(a.count(17), static_cast<std::size_t>(std::distance(in_a.begin(), in_a.upper_bound(17))));
    EXPECT_EQ(elements_of(a.bounded(17)), Elements(in_a.begin(), in_a.upper_bound(17)));
    EXPECT_EQ(a.empty(), in_a.empty());
    EXPECT_EQ(a.range(), in_a.empty() ? Bounds(0, 0) : Bounds(*in_a.begin(), *in_a.rbegin()));
    for (const auto& subset : {a, b, a + b, a - b, a & b}) expect_shortest_form(subset);
    if (HasFailure()) return;
  }
}

TEST(DataSubset, Constructors) {
  EXPECT_TRUE(DataSubset().empty());
  EXPECT_EQ(DataSubset(4).blocks(), (Blocks{{0, 4}}));
  EXPECT_EQ(DataSubset({3, 7}).blocks(), (Blocks{{3, 7}}));
  EXPECT_EQ(DataSubset({1, 2}, 3, 10).blocks(), (Blocks{{1, 2}, {11, 12}, {21, 22}}));
  EXPECT_EQ(DataSubset({1, 2}, 3, 2).blocks(), (Blocks{{1, 6}}));
  EXPECT_EQ(DataSubset({1, 2}, 1, 0).blocks(), (Blocks{{1, 2}}));
  EXPECT_TRUE(DataSubset({1, 2}, 0, 5).empty());
  EXPECT_EQ(DataSubset(Blocks{{5, 6}, {0, 2}, {3, 3}}).blocks(), (Blocks{{0, 3}, {5, 6}}));
  const int first[] = {5, 0, 3};
  const int last[] = {6, 2, 3};
  EXPECT_EQ(DataSubset(3, first, last).blocks(), (Blocks{{0, 3}, {5, 6}}));
  DataSubset sum(4);
  sum += Bounds(7, 8);
  EXPECT_EQ(sum.blocks(), (Blocks{{0, 4}, {7, 8}}));
}

TEST(DataSubset, RefusesWhatIsNoSubset) {
  const int negative[] = {-1};
  const int five[] = {5};
  const int four[] = {4};
  EXPECT_THROW(DataSubset(Bounds(2, 1)), std::invalid_argument);
  EXPECT_THROW(DataSubset(Blocks{{0, 1}, {2, 1}}), std::invalid_argument);
  EXPECT_THROW(DataSubset({1, 2}, 2, 0), std::invalid_argument);
  EXPECT_THROW(DataSubset({1, 2}, 3, kMax / 2), std::invalid_argument);
  EXPECT_THROW(DataSubset(1, negative, five), std::invalid_argument);
  EXPECT_THROW(DataSubset(1, five, four), std::invalid_argument);
}

TEST(DataSubset, WithoutEnd) {
  const DataSubset all(kMax);
  EXPECT_FALSE(all.is_bounded());
  EXPECT_TRUE(all.includes(kMax));
  EXPECT_TRUE(all.includes_all(kMax));
  EXPECT_EQ(all.count(), 0U);
  EXPECT_EQ(all.count(9), 10U);
  EXPECT_EQ(all.max_count(), 0U);
  EXPECT_EQ(all - DataSubset(4), DataSubset({5, kMax}));
  EXPECT_EQ((all - DataSubset(4)) + DataSubset(4), all);
  EXPECT_TRUE((all - all).empty());
  EXPECT_EQ(all.bounded(7), DataSubset(7));
  EXPECT_EQ(DataSubset({3, kMax}, 5, 10), DataSubset({3, kMax}));
  EXPECT_EQ(DataSubset(Blocks{{3, kMax}, {9, 12}}).blocks(), (Blocks{{3, kMax}}));
  EXPECT_EQ(all, fenix::data::SUBSET_FULL);
}

TEST(DataSubset, Queries) {
  const DataSubset subset(Blocks{{0, 4}, {7, 7}});
  EXPECT_TRUE(subset.includes_all(4));
  EXPECT_FALSE(subset.includes_all(5));
  EXPECT_FALSE(DataSubset({1, 4}).includes_all(4));
  EXPECT_FALSE(DataSubset().includes_all(0));
  EXPECT_EQ(subset.max_count(), 8U);
  EXPECT_EQ(DataSubset().max_count(), 0U);
  EXPECT_EQ(subset.str(), "[0, 4] [7, 7]");
  EXPECT_EQ(DataSubset().str(), "[]");
  EXPECT_EQ(DataSubset({9, kMax}).str(), "[9, end)");
  DataSubset cut = subset;
  EXPECT_EQ(cut.bound(2), DataSubset(2));
  EXPECT_EQ(cut, DataSubset(2));
}

TEST(DataSubset, PrestagedElementsAreNotKnown) {
  const DataSubset prestaged = fenix::data::SUBSET_PRESTAGED;
  EXPECT_FALSE(prestaged.empty());
  EXPECT_TRUE(prestaged.is_prestaged());
  EXPECT_NE(prestaged, DataSubset());
  EXPECT_EQ(prestaged, DataSubset(DataSubset::PrestagedSubset));
  EXPECT_EQ(prestaged.bounded(3), prestaged);
  EXPECT_EQ(prestaged.str(), "prestaged");
  EXPECT_THROW(prestaged + DataSubset(3), std::invalid_argument);
  EXPECT_THROW(DataSubset(3) - prestaged, std::invalid_argument);
  EXPECT_THROW(DataSubset(3) & prestaged, std::invalid_argument);
}

TEST(DataSubset, ToTheCInterfaceAndBack) {
  std::mt19937 random(21);
  for (int round = 0; round < 100; ++round) {
    const DataSubset subset(random_blocks(random));
    const fenix::data::Subset c(subset);
    EXPECT_EQ(DataSubset(c.get()), subset);
  }
  EXPECT_EQ(DataSubset(FENIX_DATA_SUBSET_FULL), fenix::data::SUBSET_FULL);
  EXPECT_EQ(DataSubset(FENIX_DATA_SUBSET_EMPTY), fenix::data::SUBSET_EMPTY);
  EXPECT_EQ(DataSubset(FENIX_DATA_SUBSET_PRESTAGED), fenix::data::SUBSET_PRESTAGED);
  EXPECT_EQ(fenix::data::Subset(fenix::data::SUBSET_FULL).get().impl, FENIX_DATA_SUBSET_FULL.impl);
  EXPECT_EQ(fenix::data::Subset(fenix::data::SUBSET_EMPTY).get().impl, FENIX_DATA_SUBSET_EMPTY.impl);
  EXPECT_EQ(fenix::data::Subset(fenix::data::SUBSET_PRESTAGED).get().impl, FENIX_DATA_SUBSET_PRESTAGED.impl);
  EXPECT_THROW(DataSubset{FENIX_SUBSET_NULL}, std::invalid_argument);
}

TEST(DataSubset, TakesSubsetsOfTheCInterfaceInSums) {
  fenix::data::Subset c;
  ASSERT_EQ(Fenix_Data_subset_create(2, 1, 2, 10, c.out()), FENIX_SUCCESS);
  EXPECT_EQ(DataSubset(0) + c.get(), DataSubset(Blocks{{0, 2}, {11, 12}}));
}

TEST(Subset, OwnsWhatItHas) {
  fenix::data::Subset a(DataSubset({3, 5}));
  const void* impl = a.get().impl;
  fenix::data::Subset b(std::move(a));
  EXPECT_EQ(b.get().impl, impl);
  fenix::data::Subset c;
  c = std::move(b);
  EXPECT_EQ(c.get().impl, impl);
  *c.out() = FENIX_DATA_SUBSET_FULL;  // what c had is deleted
  fenix::data::Subset d(DataSubset({1, 2}));
  Fenix_Data_subset released = d.release();
  EXPECT_EQ(d.get().impl, nullptr);
  EXPECT_EQ(Fenix_Data_subset_delete(&released), FENIX_SUCCESS);
  d.reset();
}

}  // namespace
