// SPDX-License-Identifier: BSD-3-Clause
// The contribution of a rank to a collective operation, as it is stored: a table of blocks, and the blocks. So a rank that reads it
// needs not know the counts of the one that stored it. docs/journal-format.md describes the bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace fenix_impl {

/// Whom a block is for.
struct BlockTarget {
  static constexpr std::int32_t kEveryRank = -1;

  std::int32_t slot = kEveryRank;  ///< of the rank
  std::int32_t label = 0;          ///< tells several blocks for one rank apart

  bool operator==(const BlockTarget&) const = default;
};

/// A block that is about to be stored.
struct BlockToStore {
  BlockTarget target;
  std::size_t bytes = 0;
  std::function<void(std::byte* to)> pack;  ///< writes all bytes
};

/// Returns the bytes of a contribution with these blocks.
[[nodiscard]] std::size_t contribution_bytes(std::span<const BlockToStore> blocks);
/// Writes it. to: has so many bytes.
void write_contribution(std::span<const BlockToStore> blocks, std::span<std::byte> to);
/// Returns the bytes of a block, or nothing if there is none. Any bytes may be there.
[[nodiscard]] std::optional<std::span<const std::byte>> find_block(std::span<const std::byte> contribution,
                                                                   const BlockTarget& target);

}  // namespace fenix_impl
