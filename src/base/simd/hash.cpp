// SPDX-License-Identifier: BSD-3-Clause
#include "base/simd/hash.hpp"

#define XXH_STATIC_LINKING_ONLY  // for the complete type of the state
#include <xxhash.h>

#include "base/simd/hash_kernels.hpp"

namespace fenix_impl {

std::uint64_t hash_bytes(std::span<const std::byte> bytes, std::uint64_t seed) {
  if (seed == 0 && bytes.size() > kLongestShortHash) {
    if (const HashKernels* kernels = hash_kernels(simd()); kernels != nullptr) {
      LongHash hash(*kernels);
      hash.take(kernels->only, bytes.data(), LongHash::stripes_of(bytes.size()));
      return hash.value(bytes);
    }
  }
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

struct StreamingHash::State {
  XXH3_state_t xxh3;
};

StreamingHash::StreamingHash() : state_(std::make_unique<State>()) { XXH3_64bits_reset(&state_->xxh3); }

StreamingHash::~StreamingHash() = default;

void StreamingHash::add(std::span<const std::byte> bytes) {
  XXH3_64bits_update(&state_->xxh3, bytes.data(), bytes.size());
}

std::uint64_t StreamingHash::value() const { return XXH3_64bits_digest(&state_->xxh3); }

}  // namespace fenix_impl
