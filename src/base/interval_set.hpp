// SPDX-License-Identifier: BSD-3-Clause
// Sets of element numbers, as sorted intervals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace fenix_impl {

/// [first, end)
struct Interval {
  std::uint64_t first = 0;
  std::uint64_t end = 0;

  bool operator==(const Interval&) const = default;
  [[nodiscard]] std::uint64_t count() const { return end - first; }
};

class IntervalSet {
 public:
  static constexpr std::uint64_t kEndless = std::numeric_limits<std::uint64_t>::max();

  IntervalSet() = default;
  /// [first, end), nothing if first ≥ end.
  IntervalSet(std::uint64_t first, std::uint64_t end);
  /// The union of intervals in any order, which may overlap or be empty.
  static IntervalSet of(std::vector<Interval> intervals);
  static IntervalSet everything() { return {0, kEndless}; }

  bool operator==(const IntervalSet&) const = default;

  /// Ascending, disjoint, not adjacent.
  [[nodiscard]] const std::vector<Interval>& intervals() const& { return intervals_; }
  [[nodiscard]] std::vector<Interval> intervals() && { return std::move(intervals_); }
  [[nodiscard]] bool empty() const { return intervals_.empty(); }
  [[nodiscard]] std::uint64_t count() const;
  /// One past the last element, 0 if there is none.
  [[nodiscard]] std::uint64_t end() const { return empty() ? 0 : intervals_.back().end; }
  /// True if all of [first, end) is in the set.
  [[nodiscard]] bool covers(std::uint64_t first, std::uint64_t end) const;
  /// True if any of [first, end) is in the set.
  [[nodiscard]] bool meets(std::uint64_t first, std::uint64_t end) const;
  /// The elements in [first, end).
  [[nodiscard]] IntervalSet within(std::uint64_t first, std::uint64_t end) const;
  /// The same with gaps of at most so many elements filled.
  [[nodiscard]] IntervalSet without_gaps(std::uint64_t most) const;

  friend IntervalSet operator|(const IntervalSet& a, const IntervalSet& b);
  friend IntervalSet operator&(const IntervalSet& a, const IntervalSet& b);
  friend IntervalSet operator-(const IntervalSet& a, const IntervalSet& b);

 private:
  std::vector<Interval> intervals_;
};

}  // namespace fenix_impl
