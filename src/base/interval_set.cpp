// SPDX-License-Identifier: BSD-3-Clause
#include "base/interval_set.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

namespace fenix_impl {
namespace {

/// The first interval that ends after an element.
auto first_ending_after(const std::vector<Interval>& intervals, std::uint64_t element) {
  return std::upper_bound(intervals.begin(), intervals.end(), element,
                          [](std::uint64_t value, const Interval& each) { return value < each.end; });
}

/// Joins intervals that are sorted by their first element, where at most gap elements lie between them.
std::vector<Interval> joined(const std::vector<Interval>& sorted, std::uint64_t gap) {
  std::vector<Interval> result;
  for (const Interval& each : sorted) {
    if (each.first >= each.end) continue;
    if (!result.empty() && (each.first <= result.back().end || each.first - result.back().end <= gap)) {
      result.back().end = std::max(result.back().end, each.end);
    } else {
      result.push_back(each);
    }
  }
  return result;
}

bool by_first(const Interval& a, const Interval& b) { return a.first < b.first; }

}  // namespace

IntervalSet::IntervalSet(std::uint64_t first, std::uint64_t end) {
  if (first < end) intervals_.push_back({first, end});
}

IntervalSet IntervalSet::of(std::vector<Interval> intervals) {
  if (!std::is_sorted(intervals.begin(), intervals.end(), by_first)) {
    std::sort(intervals.begin(), intervals.end(), by_first);
  }
  IntervalSet set;
  set.intervals_ = joined(intervals, 0);
  return set;
}

std::uint64_t IntervalSet::count() const {
  return std::accumulate(intervals_.begin(), intervals_.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const Interval& each) { return sum + each.count(); });
}

bool IntervalSet::covers(std::uint64_t first, std::uint64_t end) const {
  if (first >= end) return true;
  const auto found = first_ending_after(intervals_, first);
  return found != intervals_.end() && found->first <= first && found->end >= end;
}

bool IntervalSet::meets(std::uint64_t first, std::uint64_t end) const {
  if (first >= end) return false;
  const auto found = first_ending_after(intervals_, first);
  return found != intervals_.end() && found->first < end;
}

IntervalSet IntervalSet::within(std::uint64_t first, std::uint64_t end) const {
  IntervalSet set;
  if (first >= end) return set;
  for (auto each = first_ending_after(intervals_, first); each != intervals_.end() && each->first < end; ++each) {
    set.intervals_.push_back({std::max(each->first, first), std::min(each->end, end)});
  }
  return set;
}

IntervalSet IntervalSet::without_gaps(std::uint64_t most) const {
  IntervalSet set;
  set.intervals_ = joined(intervals_, most);
  return set;
}

IntervalSet operator|(const IntervalSet& a, const IntervalSet& b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  std::vector<Interval> both;
  both.reserve(a.intervals_.size() + b.intervals_.size());
  std::merge(a.intervals_.begin(), a.intervals_.end(), b.intervals_.begin(), b.intervals_.end(),
             std::back_inserter(both), by_first);
  IntervalSet set;
  set.intervals_ = joined(both, 0);
  return set;
}

IntervalSet operator&(const IntervalSet& a, const IntervalSet& b) {
  IntervalSet set;
  auto x = a.intervals_.begin();
  auto y = b.intervals_.begin();
  while (x != a.intervals_.end() && y != b.intervals_.end()) {
    const Interval common{std::max(x->first, y->first), std::min(x->end, y->end)};
    if (common.first < common.end) set.intervals_.push_back(common);
    (x->end < y->end ? x : y)++;
  }
  return set;
}

IntervalSet operator-(const IntervalSet& a, const IntervalSet& b) {
  IntervalSet set;
  auto taken = b.intervals_.begin();
  for (Interval left : a.intervals_) {
    while (taken != b.intervals_.end() && taken->end <= left.first) ++taken;
    for (auto each = taken; each != b.intervals_.end() && each->first < left.end; ++each) {
      if (each->first > left.first) set.intervals_.push_back({left.first, each->first});
      left.first = std::min(each->end, left.end);
    }
    if (left.first < left.end) set.intervals_.push_back(left);
  }
  return set;
}

}  // namespace fenix_impl
