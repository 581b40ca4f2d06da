// SPDX-License-Identifier: BSD-3-Clause
#include "parity/codec.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace fenix_impl {

Codec::Codec(int ranks, int parity, std::vector<bool> available)
    : ranks_(ranks),
      code_(ranks - parity, parity),
      available_(std::move(available)),
      plans_(static_cast<std::size_t>(ranks) * static_cast<std::size_t>(ranks)) {}

bool Codec::suffices() const {
  return std::count(available_.begin(), available_.end(), true) >= std::ptrdiff_t{code_.data()};
}

const Codec::Plan& Codec::plan(const Stripes& stripes, const Stripes::Position& position) {
  Plan& plan = plans_[static_cast<std::size_t>(position.row * ranks_ + position.number)];
  if (!plan.numbers.empty()) return plan;
  const auto needed = static_cast<std::size_t>(code_.data());
  for (int number = 0; number < ranks_ && plan.numbers.size() < needed; ++number) {
    const auto cell = stripes.cell({0, position.row, number});
    if (number == position.number || !available_[static_cast<std::size_t>(cell.rank)]) continue;
    plan.numbers.push_back(number);
  }
  plan.combination = code_.combination(position.number, plan.numbers);
  return plan;
}

void Codec::compute(const Stripes& stripes, int rank, bool is_parity, std::uint64_t offset, std::span<std::byte> target,
                    const Read& read, Stores stores) {
  std::array<const std::byte*, Code::kMostPositions> sources{};
  while (!target.empty()) {
    const std::uint64_t within = offset % stripes.unit();
    const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(target.size(), stripes.unit() - within));
    const auto position = stripes.position(rank, is_parity, offset / stripes.unit());
    const Plan& way = plan(stripes, position);
    for (std::size_t i = 0; i < way.numbers.size(); ++i) {
      auto cell = stripes.cell({position.stripe, position.row, way.numbers[i]});
      cell.offset += within;
      sources[i] = read(cell, bytes, i);
    }
    way.combination.apply(target.first(bytes), std::span(sources).first(way.numbers.size()), stores);
    target = target.subspan(bytes);
    offset += bytes;
  }
}

}  // namespace fenix_impl
