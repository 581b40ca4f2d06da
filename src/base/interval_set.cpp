// SPDX-License-Identifier: BSD-3-Clause
#include "base/interval_set.hpp"

#include <algorithm>
#include <numeric>

namespace fenix_impl {
namespace {

/// The first interval that ends after an element.
auto first_ending_after(std::span<const Interval> intervals, std::uint64_t element) {
  return std::upper_bound(intervals.begin(), intervals.end(), element,
                          [](std::uint64_t value, const Interval& each) { return value < each.end; });
}

bool by_first(const Interval& a, const Interval& b) { return a.first < b.first; }

}  // namespace

IntervalSet::IntervalSet(std::uint64_t first, std::uint64_t end) { append({first, end}); }

IntervalSet IntervalSet::of(std::vector<Interval> intervals) { return of_sorting(intervals); }

IntervalSet IntervalSet::of_sorting(std::vector<Interval>& intervals) {
  if (!std::is_sorted(intervals.begin(), intervals.end(), by_first)) {
    std::sort(intervals.begin(), intervals.end(), by_first);
  }
  IntervalSet set;
  for (const Interval& each : intervals) set.append(each);
  return set;
}

void IntervalSet::append(Interval interval, std::uint64_t gap) {
  if (interval.first >= interval.end) return;
  Interval* const last = !many_.empty() ? &many_.back() : few_size_ > 0 ? &few_[few_size_ - 1] : nullptr;
  if (last != nullptr && (interval.first <= last->end || interval.first - last->end <= gap)) {
    last->end = std::max(last->end, interval.end);
  } else if (many_.empty() && few_size_ < kFew) {
    few_[few_size_++] = interval;
  } else {
    if (many_.empty()) many_.assign(few_.begin(), few_.end());
    many_.push_back(interval);
  }
}

bool operator==(const IntervalSet& a, const IntervalSet& b) {
  return std::equal(a.intervals().begin(), a.intervals().end(), b.intervals().begin(), b.intervals().end());
}

std::uint64_t IntervalSet::count() const {
  const auto all = intervals();
  return std::accumulate(all.begin(), all.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const Interval& each) { return sum + each.count(); });
}

bool IntervalSet::covers(std::uint64_t first, std::uint64_t end) const {
  if (first >= end) return true;
  const auto all = intervals();
  const auto found = first_ending_after(all, first);
  return found != all.end() && found->first <= first && found->end >= end;
}

bool IntervalSet::meets(std::uint64_t first, std::uint64_t end) const {
  if (first >= end) return false;
  const auto all = intervals();
  const auto found = first_ending_after(all, first);
  return found != all.end() && found->first < end;
}

IntervalSet IntervalSet::within(std::uint64_t first, std::uint64_t end) const {
  IntervalSet set;
  if (first >= end) return set;
  const auto all = intervals();
  for (auto each = first_ending_after(all, first); each != all.end() && each->first < end; ++each) {
    set.append({std::max(each->first, first), std::min(each->end, end)});
  }
  return set;
}

IntervalSet IntervalSet::without_gaps(std::uint64_t most) const {
  IntervalSet set;
  for (const Interval& each : intervals()) set.append(each, most);
  return set;
}

// Stores and commits ask mostly for sets of which one is empty, or both are the same interval.
IntervalSet operator|(const IntervalSet& a, const IntervalSet& b) {
  if (b.empty()) return a;
  if (a.empty()) return b;
  IntervalSet set;
  const auto left = a.intervals();
  const auto right = b.intervals();
  auto x = left.begin();
  auto y = right.begin();
  while (x != left.end() || y != right.end()) {
    const bool take_left = y == right.end() || (x != left.end() && x->first < y->first);
    set.append(take_left ? *x++ : *y++);
  }
  return set;
}

IntervalSet operator&(const IntervalSet& a, const IntervalSet& b) {
  IntervalSet set;
  if (a.empty() || b.empty()) return set;
  const auto left = a.intervals();
  const auto right = b.intervals();
  auto x = left.begin();
  auto y = right.begin();
  while (x != left.end() && y != right.end()) {
    set.append({std::max(x->first, y->first), std::min(x->end, y->end)});
    (x->end < y->end ? x : y)++;
  }
  return set;
}

IntervalSet operator-(const IntervalSet& a, const IntervalSet& b) {
  if (a.empty() || b.empty()) return a;
  IntervalSet set;
  const auto right = b.intervals();
  auto taken = right.begin();
  for (Interval left : a.intervals()) {
    while (taken != right.end() && taken->end <= left.first) ++taken;
    for (auto each = taken; each != right.end() && each->first < left.end; ++each) {
      set.append({left.first, each->first});
      left.first = std::min(each->end, left.end);
    }
    set.append(left);
  }
  return set;
}

}  // namespace fenix_impl
