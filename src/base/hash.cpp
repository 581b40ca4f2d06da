// SPDX-License-Identifier: BSD-3-Clause
#include "base/hash.hpp"

#include <xxhash.h>

namespace fenix_impl {

std::uint64_t hash_bytes(std::span<const std::byte> bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

}  // namespace fenix_impl
