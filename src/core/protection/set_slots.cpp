// SPDX-License-Identifier: BSD-3-Clause
#include "core/protection/set_slots.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace fenix_impl {
namespace {

// Bytes of the result whose sources are on their way together. Each source takes as much memory.
constexpr std::size_t kFetchedAtOnce = std::size_t{512} << 10;

}  // namespace

SetSlots::SetSlots(RemoteRegions& remote, const Stripes& stripes, std::vector<SetSlot> slots)
    : remote_(remote), stripes_(stripes), slots_(std::move(slots)) {
  all_direct_ = std::all_of(slots_.begin(), slots_.end(), [&](const SetSlot& slot) {
    return slot.rank == SetSlot::kMissing || !remote_.direct(slot.rank, 0, 1).empty();
  });
}

std::vector<bool> SetSlots::available() const {
  std::vector<bool> there;
  for (const SetSlot& slot : slots_) there.push_back(slot.rank != SetSlot::kMissing);
  return there;
}

std::size_t SetSlots::offset_of(const Stripes::Cell& cell) const {
  const SetSlot& slot = at(cell.rank);
  return (cell.is_parity ? slot.parity : slot.elements) + cell.offset;
}

// Bytes that there are: behind the elements, there are zeros that nobody stores.
std::size_t SetSlots::there(const Stripes::Cell& cell, std::size_t bytes) const {
  if (cell.is_parity) return bytes;
  const std::uint64_t end = at(cell.rank).element_bytes;
  return static_cast<std::size_t>(std::min<std::uint64_t>(bytes, end - std::min(end, cell.offset)));
}

const std::byte* SetSlots::read(const Stripes::Cell& cell, std::size_t bytes, std::size_t source) {
  const std::size_t there = this->there(cell, bytes);
  if (there == bytes) {
    const auto direct = remote_.direct(at(cell.rank).rank, offset_of(cell), bytes);
    if (!direct.empty()) return direct.data();
  }
  const auto unit = static_cast<std::size_t>(stripes_.unit());
  if (pieces_.empty()) pieces_.resize(static_cast<std::size_t>(stripes_.ranks()) * unit);
  const auto piece = std::span(pieces_).subspan(source * unit, bytes);
  if (there > 0) remote_.get(at(cell.rank).rank, offset_of(cell), piece.first(there));
  std::fill(piece.begin() + static_cast<std::ptrdiff_t>(there), piece.end(), std::byte{0});
  return piece.data();
}

void SetSlots::fetch(Codec& codec, const Stripes::Cell& from, std::size_t bytes) {
  cells_.clear();
  std::size_t all = 0;
  codec.for_each_source(stripes_, from, bytes, [&](const Stripes::Cell& cell, std::size_t each) {
    cells_.emplace_back(cell, each);
    all += each;
  });
  pieces_.resize(all);
  std::vector<RemotePart> parts;
  auto rest = std::span(pieces_);
  for (const auto& [cell, each] : cells_) {
    const auto piece = rest.first(each);
    const std::size_t there = this->there(cell, each);
    if (there > 0) parts.push_back({at(cell.rank).rank, offset_of(cell), piece.first(there)});
    std::fill(piece.begin() + static_cast<std::ptrdiff_t>(there), piece.end(), std::byte{0});
    rest = rest.subspan(each);
  }
  remote_.get_all(parts);
}

void SetSlots::compute(Codec& codec, Stripes::Cell from, std::span<std::byte> target, Stores stores) {
  if (all_direct_) {
    codec.compute(
        stripes_, from, target,
        [this](const Stripes::Cell& cell, std::size_t bytes, std::size_t source) { return read(cell, bytes, source); },
        stores);
    return;
  }
  while (!target.empty()) {
    const auto part = target.first(std::min(target.size(), kFetchedAtOnce));
    fetch(codec, from, part.size());
    const std::byte* next = pieces_.data();
    codec.compute(
        stripes_, from, part,
        [&](const Stripes::Cell&, std::size_t bytes, std::size_t) { return std::exchange(next, next + bytes); },
        stores);
    target = target.subspan(part.size());
    from.offset += part.size();
  }
}

bool SetSlots::try_ways(const std::function<bool(Codec&)>& attempt) const {
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
