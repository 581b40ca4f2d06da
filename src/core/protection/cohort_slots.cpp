// SPDX-License-Identifier: BSD-3-Clause
#include "core/protection/cohort_slots.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace fenix_impl {

CohortSlots::CohortSlots(RemoteRegions& remote, const Stripes& stripes, std::vector<CohortSlot> slots)
    : remote_(remote), stripes_(stripes), slots_(std::move(slots)) {}

std::vector<bool> CohortSlots::available() const {
  std::vector<bool> there;
  for (const CohortSlot& slot : slots_) there.push_back(slot.rank != CohortSlot::kMissing);
  return there;
}

const std::byte* CohortSlots::read(const Stripes::Cell& cell, std::size_t bytes, std::size_t source) {
  const CohortSlot& slot = at(cell.rank);
  const std::uint64_t end = cell.is_parity ? cell.offset + bytes : slot.element_bytes;
  const std::size_t start = (cell.is_parity ? slot.parity : slot.elements) + cell.offset;
  if (cell.offset + bytes <= end) {
    const auto direct = remote_.direct(slot.rank, start, bytes);
    if (!direct.empty()) return direct.data();
  }
  const auto unit = static_cast<std::size_t>(stripes_.unit());
  if (pieces_.empty()) pieces_.resize(static_cast<std::size_t>(stripes_.ranks()) * unit);
  const auto piece = std::span(pieces_).subspan(source * unit, bytes);
  const auto there = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, end - std::min(end, cell.offset)));
  if (there > 0) remote_.get(slot.rank, start, piece.first(there));
  std::fill(piece.begin() + static_cast<std::ptrdiff_t>(there), piece.end(), std::byte{0});
  return piece.data();
}

void CohortSlots::compute(Codec& codec, int index, bool is_parity, std::uint64_t offset, std::span<std::byte> target,
                          Stores stores) {
  codec.compute(
      stripes_, index, is_parity, offset, target,
      [this](const Stripes::Cell& cell, std::size_t bytes, std::size_t source) { return read(cell, bytes, source); },
      stores);
}

bool CohortSlots::try_ways(const std::function<bool(Codec&)>& attempt) const {
  constexpr std::size_t kNobody = ~std::size_t{0};
  const auto there = available();
  for (std::size_t left_out = kNobody; left_out == kNobody || left_out < there.size(); ++left_out) {
    if (left_out != kNobody && !there[left_out]) continue;
    auto used = there;
    if (left_out != kNobody) used[left_out] = false;
    Codec codec(stripes_.ranks(), stripes_.ranks() - stripes_.data(), std::move(used));
    if (codec.suffices() && attempt(codec)) return true;
  }
  return false;
}

}  // namespace fenix_impl
