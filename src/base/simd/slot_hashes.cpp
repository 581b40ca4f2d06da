// SPDX-License-Identifier: BSD-3-Clause
#include "base/simd/slot_hashes.hpp"

#include <algorithm>

#include "base/simd/hash.hpp"

namespace fenix_impl {

std::uint64_t hash_of_part(std::span<const std::byte> part, std::uint64_t begin, const IntervalSet& found,
                           std::uint32_t element_bytes) {
  const std::uint64_t end = begin + part.size();
  const std::uint64_t first_element = begin / element_bytes;
  const std::uint64_t end_element = (end + element_bytes - 1) / element_bytes;
  if (found.covers(first_element, end_element)) return hash_bytes(part);
  StreamingHash hash;
  const IntervalSet there = found.within(first_element, end_element);
  for (const Interval& each : there.intervals()) {
    const std::uint64_t from = std::max(each.first * element_bytes, begin);
    const std::uint64_t to = std::min(each.end * element_bytes, end);
    hash.add(part.subspan(from - begin, to - from));
  }
  return hash.value();
}

std::uint64_t hash_of_block(std::span<const std::byte> data, std::uint64_t block, const IntervalSet& found,
                            std::uint32_t element_bytes) {
  const std::uint64_t begin = block * kHashBlock;
  return hash_of_part(data.subspan(begin, std::min<std::uint64_t>(kHashBlock, data.size() - begin)), begin, found,
                      element_bytes);
}

void make_table(std::span<const std::byte> data, const IntervalSet& found, std::uint32_t element_bytes,
                std::span<std::uint64_t> table) {
  for (std::uint64_t block = 0; block < hash_blocks(data.size()); ++block) {
    table[block] = hash_of_block(data, block, found, element_bytes);
  }
}

std::uint64_t hash_of_table(std::span<const std::uint64_t> table, std::uint64_t bytes) {
  return hash_bytes(std::as_bytes(table.first(hash_blocks(bytes))));
}

bool make_right_table(const SlotView& slot, const IntervalSet& found, std::uint32_t element_bytes,
                      std::uint64_t table_hash) {
  const std::uint64_t bytes = found.end() * element_bytes;
  make_table(slot.data.first(bytes), found, element_bytes, slot.table);
  return hash_of_table(slot.table, bytes) == table_hash;
}

bool verify(const SlotView& slot, const IntervalSet& found, std::uint32_t element_bytes, std::uint64_t table_hash) {
  const std::uint64_t bytes = found.end() * element_bytes;
  if (hash_of_table(slot.table, bytes) != table_hash) return false;
  const auto data = slot.data.first(bytes);
  for (std::uint64_t block = 0; block < hash_blocks(bytes); ++block) {
    if (hash_of_block(data, block, found, element_bytes) != slot.table[block]) return false;
  }
  return true;
}

}  // namespace fenix_impl
