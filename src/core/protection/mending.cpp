// SPDX-License-Identifier: BSD-3-Clause
#include "core/protection/mending.hpp"

#include <algorithm>
#include <vector>

namespace fenix_impl {
namespace {

// The table comes first: it tells which blocks are wrong.
bool mend_table(const SlotView& slot, const MemberVersion& version, const Readers& readers) {
  const std::uint64_t bytes = version.bytes();
  if (hash_of_table(slot.table, bytes) == version.hash) return true;
  std::vector<std::uint64_t> table(hash_blocks(bytes));
  make_table(slot.data.first(bytes), version.found, version.element_bytes, table);
  const auto is_right = [&] { return hash_of_table(table, bytes) == version.hash; };
  std::vector<std::byte> copy(std::min(kHashBlock, bytes));
  const bool found = is_right() || readers([&](const Reader& read) {
                       for (std::uint64_t block = 0; block < table.size(); ++block) {
                         const std::uint64_t begin = block * kHashBlock;
                         const auto part = std::span(copy).first(std::min(kHashBlock, bytes - begin));
                         read(begin, part);
                         table[block] = hash_of_part(part, begin, version.found, version.element_bytes);
                       }
                       return is_right();
                     });
  if (found) std::copy(table.begin(), table.end(), slot.table.begin());
  return found;
}

void write_elements(const SlotView& slot, const MemberVersion& version, std::uint64_t begin,
                    std::span<const std::byte> part) {
  const std::uint32_t element = version.element_bytes;
  const std::uint64_t end = begin + part.size();
  const IntervalSet found = version.found.within(begin / element, (end + element - 1) / element);
  for (const Interval& each : found.intervals()) {
    const std::uint64_t from = std::max(each.first * element, begin);
    const std::uint64_t to = std::min(each.end * element, end);
    std::copy_n(part.begin() + static_cast<std::ptrdiff_t>(from - begin), to - from,
                slot.data.begin() + static_cast<std::ptrdiff_t>(from));
  }
}

}  // namespace

bool mend_slot(const SlotView& slot, const MemberVersion& version, const Readers& readers) {
  if (!mend_table(slot, version, readers)) return false;
  const std::uint64_t bytes = version.bytes();
  std::vector<std::byte> copy(std::min(kHashBlock, bytes));
  bool all = true;
  for (std::uint64_t block = 0; block < hash_blocks(bytes); ++block) {
    const std::uint64_t hash = slot.table[block];
    if (hash_of_block(slot.data.first(bytes), block, version.found, version.element_bytes) == hash) continue;
    const std::uint64_t begin = block * kHashBlock;
    const auto part = std::span(copy).first(std::min(kHashBlock, bytes - begin));
    const bool found = readers([&](const Reader& read) {
      read(begin, part);
      return hash_of_part(part, begin, version.found, version.element_bytes) == hash;
    });
    if (found) write_elements(slot, version, begin, part);
    all = all && found;
  }
  return all;
}

}  // namespace fenix_impl
