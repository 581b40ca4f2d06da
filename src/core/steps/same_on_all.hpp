// SPDX-License-Identifier: BSD-3-Clause
// Hashes of arguments that must be the same on all ranks: meetings compare them.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/simd/hash.hpp"
#include "core/member/selection.hpp"

namespace fenix_impl {

/// Returns the hash for a call about a member in a snapshot.
[[nodiscard]] inline std::uint64_t hash_of(std::int32_t member_id, const SnapshotChoice& choice) {
  const std::array<std::int64_t, 3> same_on_all{member_id, static_cast<std::int64_t>(choice.kind), choice.time_stamp};
  return hash_bytes(std::as_bytes(std::span(same_on_all)));
}

}  // namespace fenix_impl
