// SPDX-License-Identifier: BSD-3-Clause
// Hashes of the contents of a slot: one for each block, in a table behind the elements. The record has a hash of the
// table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/interval_set.hpp"

namespace fenix_impl {

constexpr std::uint64_t kHashBlock = std::uint64_t{128} << 10;

/// Returns the number of blocks that so many bytes are in.
[[nodiscard]] constexpr std::uint64_t hash_blocks(std::uint64_t bytes) {
  return bytes / kHashBlock + (bytes % kHashBlock != 0 ? 1 : 0);
}

/// Elements and table of a slot, or of a part of it that begins with the first element.
struct SlotView {
  std::span<std::byte> data;
  std::span<std::uint64_t> table;  ///< at least hash_blocks(data.size())
};

/// Returns the hash of the bytes of a block that belong to elements in found. Bytes of other elements do not count.
[[nodiscard]] std::uint64_t hash_of_block(std::span<const std::byte> data, std::uint64_t block,
                                          const IntervalSet& found, std::uint32_t element_bytes);

/// Returns the hash of a block that is somewhere else. begin: its position in the slot, in bytes.
[[nodiscard]] std::uint64_t hash_of_part(std::span<const std::byte> part, std::uint64_t begin, const IntervalSet& found,
                                         std::uint32_t element_bytes);

/// Writes the entries of a table for so much data.
void make_table(std::span<const std::byte> data, const IntervalSet& found, std::uint32_t element_bytes,
                std::span<std::uint64_t> table);

/// Makes the table of a slot whose data is there, all of it. Whether the table has the hash.
[[nodiscard]] bool make_right_table(const SlotView& slot, const IntervalSet& found, std::uint32_t element_bytes,
                                    std::uint64_t table_hash);

/// Returns the hash of the table for so many bytes.
[[nodiscard]] std::uint64_t hash_of_table(std::span<const std::uint64_t> table, std::uint64_t bytes);

/// Whether the table has the hash, and all elements in found match it. The elements lie within slot.data.
[[nodiscard]] bool verify(const SlotView& slot, const IntervalSet& found, std::uint32_t element_bytes,
                          std::uint64_t table_hash);

}  // namespace fenix_impl
