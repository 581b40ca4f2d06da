// SPDX-License-Identifier: BSD-3-Clause
#include "parity/stripes.hpp"
#include "base/of_thread.hpp"

#include <algorithm>
#include <vector>

namespace fenix_impl {
namespace {

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

// Ascending, within one stripe.
void Stripes::add_parity_of(int holder, int rank, const Interval& bytes, std::vector<Interval>& found) const {
  const std::uint64_t stripe = bytes.first / (unit_ * static_cast<std::uint64_t>(data()));
  for (int number = 0; number < parity_; ++number) {
    const int row = wrap(holder - number);
    const int within = wrap(row - rank - 1);
    if (within >= data()) continue;
    const std::uint64_t start =
        (stripe * static_cast<std::uint64_t>(data()) + static_cast<std::uint64_t>(within)) * unit_;
    const std::uint64_t begin = std::max(bytes.first, start);
    const std::uint64_t end = std::min(bytes.end, start + unit_);
    const std::uint64_t parity =
        (stripe * static_cast<std::uint64_t>(parity_) + static_cast<std::uint64_t>(number)) * unit_;
    if (begin < end) found.push_back({parity + (begin - start), parity + (end - start)});
  }
}

IntervalSet Stripes::parity_of(int holder, int rank, const IntervalSet& bytes) const {
  if (parity_ == 0) return {};
  const std::uint64_t stripe_bytes = unit_ * static_cast<std::uint64_t>(data());
  const std::uint64_t stripe_parity = unit_ * static_cast<std::uint64_t>(parity_);
  auto& found = of_thread<std::vector<Interval>>();  // memory to use again
  found.clear();
  for (const Interval& each : bytes.intervals()) {
    for (std::uint64_t begin = each.first; begin < each.end;) {
      const std::uint64_t stripe = begin / stripe_bytes;
      const std::uint64_t end_whole = each.end / stripe_bytes;
      if (begin % stripe_bytes == 0 && end_whole > stripe) {
        // Whole stripes at once: a change of one of them may touch all of its parity.
        found.push_back({stripe * stripe_parity, end_whole * stripe_parity});
        begin = end_whole * stripe_bytes;
      } else {
        const std::uint64_t end = std::min(each.end, (stripe + 1) * stripe_bytes);
        add_parity_of(holder, rank, {begin, end}, found);
        begin = end;
      }
    }
  }
  return IntervalSet::of_sorting(found);
}

}  // namespace fenix_impl
