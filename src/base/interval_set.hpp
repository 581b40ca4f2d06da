// SPDX-License-Identifier: BSD-3-Clause
// Sets of element numbers, as sorted intervals.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
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
  /// The same; sorts them.
  static IntervalSet of_sorting(std::vector<Interval>& intervals);
  static IntervalSet everything() { return {0, kEndless}; }

  friend bool operator==(const IntervalSet& a, const IntervalSet& b);

  /// Ascending, disjoint, not adjacent.
  [[nodiscard]] std::span<const Interval> intervals() const& {
    return many_.empty() ? std::span(few_).first(few_size_) : std::span<const Interval>(many_);
  }
  std::span<const Interval> intervals() && = delete;  // it would be gone
  [[nodiscard]] bool empty() const { return few_size_ == 0 && many_.empty(); }
  [[nodiscard]] std::uint64_t count() const;
  /// One past the last element, 0 if there is none.
  [[nodiscard]] std::uint64_t end() const { return empty() ? 0 : intervals().back().end; }
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

  /// Adds an interval that begins no earlier than the last one; joins them if at most gap elements lie between.
  void append(Interval interval, std::uint64_t gap = 0);

 private:
  static constexpr std::size_t kFew = 3;

  // Almost all sets have few intervals, and stores and commits are to do without allocations.
  std::array<Interval, kFew> few_{};
  std::size_t few_size_ = 0;
  std::vector<Interval> many_;  // all of them, if there are more
};

}  // namespace fenix_impl
