// SPDX-License-Identifier: BSD-3-Clause
// Included by xor.cpp into the namespace of each kernel set; see base/simd/vectors.hpp.

// The parity of kVectors vectors of the sources, from an offset on.
template <std::size_t kSources, std::size_t kVectors>
FENIX_KERNEL FENIX_INLINE void sum_of(Vector (&sums)[kVectors], const std::byte* const (&from)[kSources],
                                      std::size_t at) {
  FENIX_UNROLL
  for (std::size_t i = 0; i < kVectors; ++i) sums[i] = load(from[0] + at + i * sizeof(Vector));
  FENIX_UNROLL
  for (std::size_t source = 1; source < kSources; ++source) {
    FENIX_UNROLL
    for (std::size_t i = 0; i < kVectors; ++i) {
      sums[i] = exclusive_or(sums[i], load(from[source] + at + i * sizeof(Vector)));
    }
  }
}

template <std::size_t kSources, bool kStreaming, std::size_t kBytes>
FENIX_KERNEL FENIX_INLINE void step(std::byte* target, const std::byte* const (&from)[kSources], std::size_t at) {
  constexpr std::size_t kVectors = kBytes / sizeof(Vector);
  Vector sums[kVectors];
  sum_of(sums, from, at);
  FENIX_UNROLL
  for (std::size_t i = 0; i < kVectors; ++i) {
    std::byte* const to = target + at + i * sizeof(Vector);
    kStreaming ? stream(to, sums[i]) : store(to, sums[i]);
  }
}

// At least one line. The ends of the target that are no whole lines are computed before anything is stored, since the
// target may be a source, and stored at the end.
template <std::size_t kSources, bool kStreaming>
FENIX_KERNEL void xor_sources(std::byte* target, std::size_t bytes, const std::byte* const* sources) {
  constexpr std::size_t kVectors = kLine / sizeof(Vector);
  const std::byte* from[kSources];
  FENIX_UNROLL
  for (std::size_t source = 0; source < kSources; ++source) from[source] = sources[source];

  const std::size_t begin = to_line(target);
  Vector head[kVectors] = {};
  Vector tail[kVectors] = {};
  if (begin > 0) sum_of(head, from, 0);
  if ((bytes - begin) % kLine > 0) sum_of(tail, from, bytes - kLine);

  constexpr std::size_t kStep = kStepVectors * sizeof(Vector);
  std::size_t at = begin;
  for (; at + kStep <= bytes; at += kStep) step<kSources, kStreaming, kStep>(target, from, at);
  for (; at + kLine <= bytes; at += kLine) step<kSources, kStreaming, kLine>(target, from, at);

  FENIX_UNROLL
  for (std::size_t i = 0; i < kVectors; ++i) {
    if (begin > 0) store(target + i * sizeof(Vector), head[i]);
    if (at < bytes) store(target + bytes - kLine + i * sizeof(Vector), tail[i]);
  }
}

template <bool kStreaming, std::size_t... kIndex>
constexpr XorKernels::Table table(std::index_sequence<kIndex...>) {
  return {xor_sources<kIndex + 1, kStreaming>...};
}

inline constexpr XorKernels kKernels{.cached = table<false>(std::make_index_sequence<kMostStreamed>()),
                                     .streaming = table<true>(std::make_index_sequence<kMostStreamed>())};
