// SPDX-License-Identifier: BSD-3-Clause
#include "parity/stripes.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace fenix_impl {
namespace {

constexpr std::uint64_t kLargestUnit = std::uint64_t{32} << 10;
constexpr std::uint64_t kCacheLine = 64;

}  // namespace

std::uint64_t Stripes::unit_for(std::uint64_t most_bytes, int data, bool grows) {
  if (grows) return kLargestUnit;
  const auto units = static_cast<std::uint64_t>(data);
  const std::uint64_t share = most_bytes / units + (most_bytes % units != 0 ? 1 : 0);
  return std::clamp((share + kCacheLine - 1) / kCacheLine * kCacheLine, kCacheLine, kLargestUnit);
}

std::uint64_t Stripes::parity_bytes(std::uint64_t most_bytes) const {
  const std::uint64_t stripe = unit_ * static_cast<std::uint64_t>(data());
  const std::uint64_t stripes = most_bytes / stripe + (most_bytes % stripe != 0 ? 1 : 0);
  return stripes * unit_ * static_cast<std::uint64_t>(parity_);
}

Stripes::Position Stripes::position(int rank, bool is_parity, std::uint64_t unit_number) const {
  const auto units = static_cast<std::uint64_t>(is_parity ? parity_ : data());
  const auto within = static_cast<int>(unit_number % units);
  if (is_parity) return {unit_number / units, wrap(rank - within), data() + within};
  return {unit_number / units, wrap(rank + 1 + within), data() - 1 - within};
}

Stripes::Cell Stripes::cell(const Position& position) const {
  const bool is_parity = position.number >= data();
  const int within = is_parity ? position.number - data() : data() - 1 - position.number;
  const auto units = static_cast<std::uint64_t>(is_parity ? parity_ : data());
  const int rank = is_parity ? position.row + within : position.row + parity_ + position.number;
  return {wrap(rank), is_parity, (position.stripe * units + static_cast<std::uint64_t>(within)) * unit_};
}

IntervalSet Stripes::parity_of(int keeper, int rank, const IntervalSet& bytes) const {
  if (parity_ == 0) return {};
  const std::uint64_t stripe_bytes = unit_ * static_cast<std::uint64_t>(data());
  const std::uint64_t stripe_parity = unit_ * static_cast<std::uint64_t>(parity_);
  std::vector<Interval> found;
  const auto add_units = [&](std::uint64_t begin, std::uint64_t end) {
    while (begin < end) {
      const std::uint64_t start = begin / unit_ * unit_;
      const std::uint64_t stop = std::min(end, start + unit_);
      const Position at = position(rank, false, begin / unit_);
      const int within = wrap(keeper - at.row);
      if (within < parity_) {
        const std::uint64_t unit = at.stripe * stripe_parity + static_cast<std::uint64_t>(within) * unit_;
        found.push_back({unit + (begin - start), unit + (stop - start)});
      }
      begin = stop;
    }
  };
  for (const Interval& each : bytes.intervals()) {
    // Whole stripes at once: a change of one of them may touch all of its parity.
    const std::uint64_t first_whole = (each.first + stripe_bytes - 1) / stripe_bytes;
    const std::uint64_t end_whole = each.end / stripe_bytes;
    if (first_whole >= end_whole) {
      add_units(each.first, each.end);
      continue;
    }
    add_units(each.first, first_whole * stripe_bytes);
    found.push_back({first_whole * stripe_parity, end_whole * stripe_parity});
    add_units(end_whole * stripe_bytes, each.end);
  }
  return IntervalSet::of(std::move(found));
}

}  // namespace fenix_impl
