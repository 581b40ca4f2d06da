// SPDX-License-Identifier: BSD-3-Clause
// XXH3, the hash of stored bytes and records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace fenix_impl {

[[nodiscard]] std::uint64_t hash_bytes(std::span<const std::byte> bytes, std::uint64_t seed = 0);

}  // namespace fenix_impl
