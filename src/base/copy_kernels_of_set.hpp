// SPDX-License-Identifier: BSD-3-Clause
// Included by copy.cpp into the namespace of each kernel set; see vectors.hpp.

template <int kTargets, std::size_t kBytes>
FENIX_KERNEL FENIX_INLINE void stream_step(const std::byte* from, std::byte* to, [[maybe_unused]] std::byte* also_to) {
  constexpr std::size_t kVectors = kBytes / sizeof(Vector);
  Vector values[kVectors];
  FENIX_UNROLL
  for (std::size_t i = 0; i < kVectors; ++i) values[i] = load(from + i * sizeof(Vector));
  FENIX_UNROLL
  for (std::size_t i = 0; i < kVectors; ++i) stream(to + i * sizeof(Vector), values[i]);
  if constexpr (kTargets > 1) {
    FENIX_UNROLL
    for (std::size_t i = 0; i < kVectors; ++i) stream(also_to + i * sizeof(Vector), values[i]);
  }
}

template <int kTargets>
FENIX_KERNEL void stream_lines(const std::byte* from, std::size_t lines, std::byte* to, std::byte* also_to) {
  std::size_t at = 0;
  const std::size_t bytes = lines * kLine;
  for (; at + 4 * kLine <= bytes; at += 4 * kLine) {
    FENIX_UNROLL
    for (std::size_t i = 0; i < 4; ++i) {
      _mm_prefetch(reinterpret_cast<const char*>(from) + at + kCopyPrefetch + i * kLine, _MM_HINT_T0);
    }
    stream_step<kTargets, 4 * kLine>(from + at, to + at, also_to + at);
  }
  for (; at < bytes; at += kLine) stream_step<kTargets, kLine>(from + at, to + at, also_to + at);
}

inline constexpr CopyKernels kKernels{.once = stream_lines<1>, .twice = stream_lines<2>};
