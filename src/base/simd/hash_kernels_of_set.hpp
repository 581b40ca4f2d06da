// SPDX-License-Identifier: BSD-3-Clause
// Included by hash_kernels.cpp into the namespace of each kernel set; see vectors.hpp.

inline constexpr std::size_t kVectorsOfStripe = kStripe / sizeof(Vector);

// One vector of a stripe. Each lane gets the product of the halves of (value ^ key), and its neighbour's value.
FENIX_KERNEL FENIX_INLINE Vector with_value(Vector lanes, Vector value, Vector key) {
  const Vector keyed = exclusive_or(value, key);
  return add(add(lanes, swap_pairs(value)), multiply_low_halves(keyed, high_half_low(keyed)));
}

FENIX_KERNEL FENIX_INLINE Vector scrambled(Vector lanes, Vector key, Vector prime) {
  const Vector mixed = exclusive_or(exclusive_or(lanes, shift_right_47(lanes)), key);
  return add(multiply_low_halves(mixed, prime), low_half_high(multiply_low_halves(high_half_low(mixed), prime)));
}

template <int kTargets, bool kStreaming>
FENIX_KERNEL void take(HashLanes& lanes, const std::byte* secret, const std::byte* from, std::size_t stripes,
                       std::byte* to, std::byte* also_to) {
  std::byte* const memory = reinterpret_cast<std::byte*>(lanes.data());
  Vector sums[kVectorsOfStripe];
  FENIX_UNROLL
  for (std::size_t i = 0; i < kVectorsOfStripe; ++i) sums[i] = load(memory + i * sizeof(Vector));
  const Vector prime = all_lanes(kPrime32_1);

  while (stripes > 0) {
    const std::size_t count = stripes < kStripesOfBlock ? stripes : kStripesOfBlock;
    for (std::size_t stripe = 0; stripe < count; ++stripe) {
      // Pays where the writes go past the caches, and costs where nothing is written.
      if constexpr (kStreaming) _mm_prefetch(reinterpret_cast<const char*>(from) + kHashPrefetch, _MM_HINT_T0);
      FENIX_UNROLL
      for (std::size_t i = 0; i < kVectorsOfStripe; ++i) {
        const std::size_t at = i * sizeof(Vector);
        const Vector value = load(from + at);
        if constexpr (kTargets > 0) kStreaming ? stream(to + at, value) : store(to + at, value);
        if constexpr (kTargets > 1) kStreaming ? stream(also_to + at, value) : store(also_to + at, value);
        sums[i] = with_value(sums[i], value, load(secret + stripe * kSecretStep + at));
      }
      from += kStripe;
      if constexpr (kTargets > 0) to += kStripe;
      if constexpr (kTargets > 1) also_to += kStripe;
    }
    stripes -= count;
    if (count < kStripesOfBlock) break;
    FENIX_UNROLL
    for (std::size_t i = 0; i < kVectorsOfStripe; ++i) {
      sums[i] = scrambled(sums[i], load(secret + kSecretOfScramble + i * sizeof(Vector)), prime);
    }
  }
  FENIX_UNROLL
  for (std::size_t i = 0; i < kVectorsOfStripe; ++i) store(memory + i * sizeof(Vector), sums[i]);
}

FENIX_KERNEL inline void take_last(HashLanes& lanes, const std::byte* secret, const std::byte* from) {
  std::byte* const memory = reinterpret_cast<std::byte*>(lanes.data());
  for (std::size_t at = 0; at < kStripe; at += sizeof(Vector)) {
    store(memory + at, with_value(load(memory + at), load(from + at), load(secret + kSecretOfLast + at)));
  }
}

inline constexpr HashKernels kKernels{
    .only = take<0, false>,
    .copying = take<1, false>,
    .copying_twice = take<2, false>,
    .streaming = take<1, true>,
    .streaming_twice = take<2, true>,
    .take_last = take_last,
};
