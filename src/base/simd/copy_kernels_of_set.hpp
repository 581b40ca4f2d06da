// SPDX-License-Identifier: BSD-3-Clause
// Included by copy.cpp into the namespace of each kernel set; see vectors.hpp.

template <bool kStreaming>
FENIX_KERNEL FENIX_INLINE void put(std::byte* to, Vector value) {
  kStreaming ? stream(to, value) : store(to, value);
}

template <int kTargets, bool kStreaming, std::size_t kBytes>
FENIX_KERNEL FENIX_INLINE void step(const std::byte* from, std::byte* to, [[maybe_unused]] std::byte* also_to) {
  constexpr std::size_t kVectors = kBytes / sizeof(Vector);
  Vector values[kVectors];
  FENIX_UNROLL
  for (std::size_t i = 0; i < kVectors; ++i) values[i] = load(from + i * sizeof(Vector));
  FENIX_UNROLL
  for (std::size_t i = 0; i < kVectors; ++i) put<kStreaming>(to + i * sizeof(Vector), values[i]);
  if constexpr (kTargets > 1) {
    FENIX_UNROLL
    for (std::size_t i = 0; i < kVectors; ++i) put<kStreaming>(also_to + i * sizeof(Vector), values[i]);
  }
}

template <int kTargets, bool kStreaming>
FENIX_KERNEL void copy_lines(const std::byte* from, std::size_t lines, std::byte* to, std::byte* also_to) {
  std::size_t at = 0;
  const std::size_t bytes = lines * kLine;
  for (; at + 4 * kLine <= bytes; at += 4 * kLine) {
    if constexpr (kStreaming) {
      FENIX_UNROLL
      for (std::size_t i = 0; i < 4; ++i) {
        _mm_prefetch(reinterpret_cast<const char*>(from) + at + kCopyPrefetch + i * kLine, _MM_HINT_T0);
      }
    }
    step<kTargets, kStreaming, 4 * kLine>(from + at, to + at, also_to + at);
  }
  for (; at < bytes; at += kLine) step<kTargets, kStreaming, kLine>(from + at, to + at, also_to + at);
}

inline constexpr CopyKernels kKernels{
    .streaming = copy_lines<1, true>, .streaming_twice = copy_lines<2, true>, .cached_twice = copy_lines<2, false>};
