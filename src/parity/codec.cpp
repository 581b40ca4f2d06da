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
  for (const bool preferred : {true, false}) {
    for (int number = 0; number < ranks_ && plan.numbers.size() < needed; ++number) {
      const auto cell = stripes.cell({0, position.row, number});
      if (number == position.number || !available_[static_cast<std::size_t>(cell.rank)]) continue;
      if ((cell.rank == preferred_) == preferred) plan.numbers.push_back(number);
    }
  }
  plan.combination = code_.combination(position.number, plan.numbers);
  return plan;
}

Codec::Part Codec::first_part(const Stripes& stripes, const Stripes::Cell& from, std::size_t bytes) {
  const std::uint64_t within = from.offset % stripes.unit();
  return {stripes.position(from.rank, from.is_parity, from.offset / stripes.unit()), within,
          static_cast<std::size_t>(std::min<std::uint64_t>(bytes, stripes.unit() - within))};
}

Stripes::Cell Codec::source_of(const Stripes& stripes, const Part& part, int number) {
  auto cell = stripes.cell({part.position.stripe, part.position.row, number});
  cell.offset += part.within;
  return cell;
}

void Codec::for_each_source(const Stripes& stripes, Stripes::Cell from, std::size_t bytes, const Visit& visit) {
  while (bytes > 0) {
    const Part part = first_part(stripes, from, bytes);
    for (const int number : plan(stripes, part.position).numbers) visit(source_of(stripes, part, number), part.bytes);
    from.offset += part.bytes;
    bytes -= part.bytes;
  }
}

void Codec::compute(const Stripes& stripes, Stripes::Cell from, std::span<std::byte> target, const Read& read,
                    Stores stores) {
  std::array<const std::byte*, Code::kMostPositions> sources{};
  while (!target.empty()) {
    const Part part = first_part(stripes, from, target.size());
    const Plan& way = plan(stripes, part.position);
    for (std::size_t i = 0; i < way.numbers.size(); ++i) {
      sources[i] = read(source_of(stripes, part, way.numbers[i]), part.bytes, i);
    }
    way.combination.apply(target.first(part.bytes), std::span(sources).first(way.numbers.size()), stores);
    target = target.subspan(part.bytes);
    from.offset += part.bytes;
  }
}

}  // namespace fenix_impl
