// SPDX-License-Identifier: BSD-3-Clause
// The vectors of each kernel set, by the same names in namespaces avx2, avx512 and neon. A kernel is written once, in a
// file that is included into each of them with FENIX_KERNEL defined as that set's attribute. The compiler's flags stay
// those of any CPU, so no inline function of the standard library is compiled for a better one.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__x86_64__)
// GCC 12 takes the undefined operands in this header for mistakes (its bug 105593).
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#pragma GCC diagnostic pop
#define FENIX_AVX2 __attribute__((target("avx2")))
#define FENIX_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl")))
#define FENIX_AVX2_GFNI __attribute__((target("avx2,gfni")))
#define FENIX_AVX512_GFNI __attribute__((target("avx512f,avx512bw,avx512vl,gfni")))
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif
// Loops over arrays of vectors must vanish, or the arrays would be in memory.
#define FENIX_UNROLL _Pragma("GCC unroll 16")
#define FENIX_INLINE inline __attribute__((always_inline))

namespace fenix_impl {

/// What streaming stores are aligned to, and what kernels take in one step at least.
inline constexpr std::size_t kLine = 64;

/// How far an address is from the next line.
inline std::size_t to_line(const std::byte* address) { return -reinterpret_cast<std::uintptr_t>(address) % kLine; }

/// Makes streaming stores visible to other processes before whatever is stored after it.
inline void end_streaming() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

#if defined(__x86_64__)
namespace avx2 {
using Vector = __m256i;
FENIX_AVX2 FENIX_INLINE Vector load(const std::byte* from) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}
FENIX_AVX2 FENIX_INLINE void store(std::byte* to, Vector value) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), value);
}
FENIX_AVX2 FENIX_INLINE void stream(std::byte* to, Vector value) {
  _mm256_stream_si256(reinterpret_cast<__m256i*>(to), value);
}
FENIX_AVX2 FENIX_INLINE Vector exclusive_or(Vector a, Vector b) { return _mm256_xor_si256(a, b); }
// What XXH3 needs, in lanes of 64 bits.
FENIX_AVX2 FENIX_INLINE Vector add(Vector a, Vector b) { return _mm256_add_epi64(a, b); }
FENIX_AVX2 FENIX_INLINE Vector multiply_low_halves(Vector a, Vector b) { return _mm256_mul_epu32(a, b); }
FENIX_AVX2 FENIX_INLINE Vector swap_pairs(Vector a) { return _mm256_shuffle_epi32(a, _MM_SHUFFLE(1, 0, 3, 2)); }
FENIX_AVX2 FENIX_INLINE Vector high_half_low(Vector a) { return _mm256_srli_epi64(a, 32); }
FENIX_AVX2 FENIX_INLINE Vector low_half_high(Vector a) { return _mm256_slli_epi64(a, 32); }
FENIX_AVX2 FENIX_INLINE Vector shift_right_47(Vector a) { return _mm256_srli_epi64(a, 47); }
FENIX_AVX2 FENIX_INLINE Vector all_lanes(std::uint64_t value) {
  return _mm256_set1_epi64x(static_cast<long long>(value));
}
// Each byte times the matrix of 8 × 8 bits of its lane.
FENIX_AVX2_GFNI FENIX_INLINE Vector times(Vector bytes, Vector matrices) {
  return _mm256_gf2p8affine_epi64_epi8(bytes, matrices, 0);
}
}  // namespace avx2

namespace avx512 {
using Vector = __m512i;
FENIX_AVX512 FENIX_INLINE Vector load(const std::byte* from) { return _mm512_loadu_si512(from); }
FENIX_AVX512 FENIX_INLINE void store(std::byte* to, Vector value) { _mm512_storeu_si512(to, value); }
FENIX_AVX512 FENIX_INLINE void stream(std::byte* to, Vector value) {
  _mm512_stream_si512(reinterpret_cast<__m512i*>(to), value);
}
FENIX_AVX512 FENIX_INLINE Vector exclusive_or(Vector a, Vector b) { return _mm512_xor_si512(a, b); }
FENIX_AVX512 FENIX_INLINE Vector add(Vector a, Vector b) { return _mm512_add_epi64(a, b); }
FENIX_AVX512 FENIX_INLINE Vector multiply_low_halves(Vector a, Vector b) { return _mm512_mul_epu32(a, b); }
FENIX_AVX512 FENIX_INLINE Vector swap_pairs(Vector a) {
  return _mm512_shuffle_epi32(a, static_cast<_MM_PERM_ENUM>(_MM_SHUFFLE(1, 0, 3, 2)));
}
FENIX_AVX512 FENIX_INLINE Vector high_half_low(Vector a) { return _mm512_srli_epi64(a, 32); }
FENIX_AVX512 FENIX_INLINE Vector low_half_high(Vector a) { return _mm512_slli_epi64(a, 32); }
FENIX_AVX512 FENIX_INLINE Vector shift_right_47(Vector a) { return _mm512_srli_epi64(a, 47); }
FENIX_AVX512 FENIX_INLINE Vector all_lanes(std::uint64_t value) {
  return _mm512_set1_epi64(static_cast<long long>(value));
}
FENIX_AVX512_GFNI FENIX_INLINE Vector times(Vector bytes, Vector matrices) {
  return _mm512_gf2p8affine_epi64_epi8(bytes, matrices, 0);
}
}  // namespace avx512
#elif defined(__aarch64__)
namespace neon {
using Vector = uint8x16_t;
FENIX_INLINE Vector load(const std::byte* from) { return vld1q_u8(reinterpret_cast<const std::uint8_t*>(from)); }
FENIX_INLINE void store(std::byte* to, Vector value) { vst1q_u8(reinterpret_cast<std::uint8_t*>(to), value); }
// There is no such store for one vector; the CPUs stop allocating lines by themselves when whole lines are written.
FENIX_INLINE void stream(std::byte* to, Vector value) { store(to, value); }
FENIX_INLINE Vector exclusive_or(Vector a, Vector b) { return veorq_u8(a, b); }
}  // namespace neon
#endif

}  // namespace fenix_impl
