// SPDX-License-Identifier: BSD-3-Clause
#include "core/member/snapshot_reader.hpp"

#include <algorithm>

namespace fenix_impl {

std::span<const std::byte> stored_bytes(const ElementType& type, const void* buffer, std::span<const std::byte> spill,
                                        std::uint64_t begin, std::uint64_t bytes, std::vector<std::byte>& scratch) {
  if (buffer == nullptr) return spill.subspan(begin, bytes);
  if (type.contiguous()) return {static_cast<const std::byte*>(buffer) + begin, bytes};
  const std::uint64_t first = begin / type.bytes();
  const std::uint64_t end = (begin + bytes + type.bytes() - 1) / type.bytes();
  scratch.resize((end - first) * type.bytes());
  type.pack(buffer, first, end - first, scratch.data());
  return std::span<const std::byte>(scratch).subspan(begin - first * type.bytes(), bytes);
}

std::span<const std::byte> SnapshotReader::bytes(std::uint64_t begin, std::uint64_t bytes) {
  const WorkingSlot& working = member_.working();
  if (!in_place_) return member_.memory.own_slot(*working.number()).data.subspan(begin, bytes);
  const std::uint32_t element = member_.element_bytes();
  const std::uint64_t first = begin / element;
  const std::uint64_t end = (begin + bytes + element - 1) / element;
  bool some = false;
  for (const StoredFrom& source : working.sources()) {
    if (source.elements.covers(first, end)) {
      return stored_bytes(*member_.info().type, source.buffer, working.spill(), begin, bytes, packed_);
    }
    some = some || source.elements.meets(first, end);
  }
  if (!some) return member_.memory.own_slot(0).data.subspan(begin, bytes);
  put_together(begin, bytes);
  return joined_;
}

void SnapshotReader::put_together(std::uint64_t begin, std::uint64_t bytes) {
  const WorkingSlot& working = member_.working();
  const std::uint32_t element = member_.element_bytes();
  const std::uint64_t end = begin + bytes;
  const auto latest = member_.memory.own_slot(0).data.subspan(begin, bytes);
  joined_.assign(latest.begin(), latest.end());
  for (const StoredFrom& source : working.sources()) {
    const IntervalSet there = source.elements.within(begin / element, (end + element - 1) / element);
    for (const Interval& each : there.intervals()) {
      const std::uint64_t from = std::max(each.first * element, begin);
      const std::uint64_t to = std::min(each.end * element, end);
      const auto stored = stored_bytes(*member_.info().type, source.buffer, working.spill(), from, to - from, packed_);
      std::copy(stored.begin(), stored.end(), joined_.begin() + static_cast<std::ptrdiff_t>(from - begin));
    }
  }
}

}  // namespace fenix_impl
