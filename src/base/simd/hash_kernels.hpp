// SPDX-License-Identifier: BSD-3-Clause
// XXH3 of 64 bits without a seed, for vectors wider than those that the library xxHash is compiled for, and with copies
// made of the very registers that are hashed. Inputs of up to 240 bytes are another algorithm and not for this one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/simd/simd.hpp"

namespace fenix_impl {

inline constexpr std::size_t kStripe = 64;
inline constexpr std::size_t kStripesOfBlock = 16;
inline constexpr std::size_t kLongestShortHash = 240;

using HashLanes = std::array<std::uint64_t, 8>;

struct HashKernels {
  /// Takes stripes, of which the first begins a block, into lanes, and stores them to targets that are not nullptr.
  /// Streaming: those are aligned to kLine.
  using Take = void (*)(HashLanes& lanes, const std::byte* secret, const std::byte* from, std::size_t stripes,
                        std::byte* to, std::byte* also_to);
  Take only;
  Take copying;
  Take copying_twice;
  Take streaming;
  Take streaming_twice;
  /// Takes the last 64 bytes.
  void (*take_last)(HashLanes& lanes, const std::byte* secret, const std::byte* from);
};

/// nullptr if the set has nothing better than xxHash itself.
const HashKernels* hash_kernels(Simd simd);

/// The hash of one span of more than 240 bytes, in steps.
class LongHash {
 public:
  explicit LongHash(const HashKernels& kernels);

  /// How many stripes of so many bytes are taken with take; the rest is left to value.
  static std::size_t stripes_of(std::size_t bytes) { return (bytes - 1) / kStripe; }

  /// Every call but the last takes whole blocks.
  void take(HashKernels::Take how, const std::byte* from, std::size_t stripes, std::byte* to = nullptr,
            std::byte* also_to = nullptr) {
    how(lanes_, secret_, from, stripes, to, also_to);
  }

  /// All stripes of bytes have been taken.
  [[nodiscard]] std::uint64_t value(std::span<const std::byte> bytes);

 private:
  const HashKernels& kernels_;
  const std::byte* secret_;
  HashLanes lanes_;
};

}  // namespace fenix_impl
