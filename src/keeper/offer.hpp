// SPDX-License-Identifier: BSD-3-Clause
// The description by which a rank offers its data of a snapshot to the keeper of its node: where it is in shared memory, and the hashes
// that it has there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/interval_set.hpp"

namespace fenix_impl {

struct MemberOffer {
  std::int32_t member = 0;
  std::uint32_t element_bytes = 1;
  std::uint64_t offset = 0;           ///< of the first element in the member's memory file
  IntervalSet found;                  ///< elements with a value; bytes of others may be any
  std::vector<std::uint64_t> hashes;  ///< of the blocks (base/simd/slot_hashes.hpp)

  bool operator==(const MemberOffer&) const = default;
  /// Returns the bytes up to the last element with a value.
  [[nodiscard]] std::uint64_t bytes() const { return found.end() * element_bytes; }
};

struct RankOffer {
  std::int32_t rank = 0;
  std::vector<std::byte> record;  ///< of the commit; the keeper does not look into it
  std::vector<MemberOffer> members;

  bool operator==(const RankOffer&) const = default;
};

[[nodiscard]] std::vector<std::byte> encode(const RankOffer& offer);
/// Returns nullopt unless the bytes are those of an offer that is consistent in itself. Any bytes may be given.
[[nodiscard]] std::optional<RankOffer> decode_offer(std::span<const std::byte> bytes);

}  // namespace fenix_impl
