// SPDX-License-Identifier: BSD-3-Clause
// Included by products.cpp into the namespace of each kernel set; see base/simd/vectors.hpp.

template <bool kStreaming, std::size_t kBytes>
FENIX_KERNEL FENIX_INLINE void step(std::byte* to, const std::byte* const* sources, const std::uint64_t* matrices,
                                    std::size_t count, std::size_t at) {
  constexpr std::size_t kVectors = kBytes / sizeof(Vector);
  Vector sums[kVectors];
  const Vector first = all_lanes(matrices[0]);
  FENIX_UNROLL
  for (std::size_t i = 0; i < kVectors; ++i) sums[i] = times(load(sources[0] + at + i * sizeof(Vector)), first);
  for (std::size_t source = 1; source < count; ++source) {
    const std::byte* const from = sources[source] + at;
    const Vector matrix = all_lanes(matrices[source]);
    FENIX_UNROLL
    for (std::size_t i = 0; i < kVectors; ++i) {
      sums[i] = exclusive_or(sums[i], times(load(from + i * sizeof(Vector)), matrix));
    }
  }
  FENIX_UNROLL
  for (std::size_t i = 0; i < kVectors; ++i) {
    kStreaming ? stream(to + at + i * sizeof(Vector), sums[i]) : store(to + at + i * sizeof(Vector), sums[i]);
  }
}

// At least one line. The ends of the target that are no whole lines overlap those next to them.
template <bool kStreaming>
FENIX_KERNEL void sum_up(std::byte* target, std::size_t bytes, const std::byte* const* sources,
                         const std::uint64_t* matrices, std::size_t count) {
  constexpr std::size_t kStep = 4 * kLine;
  std::size_t at = to_line(target);
  if (at > 0) step<false, kLine>(target, sources, matrices, count, 0);
  for (; at + kStep <= bytes; at += kStep) step<kStreaming, kStep>(target, sources, matrices, count, at);
  for (; at + kLine <= bytes; at += kLine) step<kStreaming, kLine>(target, sources, matrices, count, at);
  if (at < bytes) step<false, kLine>(target, sources, matrices, count, bytes - kLine);
}

inline constexpr ProductKernels kKernels{.cached = sum_up<false>, .streaming = sum_up<true>};
