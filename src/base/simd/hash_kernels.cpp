// SPDX-License-Identifier: BSD-3-Clause
#include "base/simd/hash_kernels.hpp"

#define XXH_STATIC_LINKING_ONLY  // for the state, which names the secret
#include <xxhash.h>

#include <cstring>

#include "base/simd/vectors.hpp"

namespace fenix_impl {
namespace {

// Numbers of the specification of XXH3.
constexpr std::uint64_t kPrime32_1 = 0x9E3779B1U;
constexpr std::uint64_t kPrime32_2 = 0x85EBCA77U;
constexpr std::uint64_t kPrime32_3 = 0xC2B2AE3DU;
constexpr std::uint64_t kPrime64_1 = 0x9E3779B185EBCA87U;
constexpr std::uint64_t kPrime64_2 = 0xC2B2AE3D27D4EB4FU;
constexpr std::uint64_t kPrime64_3 = 0x165667B19E3779F9U;
constexpr std::uint64_t kPrime64_4 = 0x85EBCA77C2B2AE63U;
constexpr std::uint64_t kPrime64_5 = 0x27D4EB2F165667C5U;
constexpr std::uint64_t kPrimeOfAvalanche = 0x165667919E3779F9U;
[[maybe_unused]] constexpr std::size_t kSecretStep = 8;
[[maybe_unused]] constexpr std::size_t kSecretOfScramble = 128;
[[maybe_unused]] constexpr std::size_t kSecretOfLast = 121;
constexpr std::size_t kSecretOfMerge = 11;

[[maybe_unused]] constexpr std::size_t kHashPrefetch = 1024;

#if defined(__x86_64__)
namespace with_avx2 {
using namespace avx2;
#define FENIX_KERNEL FENIX_AVX2
#include "base/simd/hash_kernels_of_set.hpp"
#undef FENIX_KERNEL
}  // namespace with_avx2
namespace with_avx512 {
using namespace avx512;
#define FENIX_KERNEL FENIX_AVX512
#include "base/simd/hash_kernels_of_set.hpp"
#undef FENIX_KERNEL
}  // namespace with_avx512
#endif

// The default secret of XXH3, 192 bytes.
const std::byte* default_secret() {
  static const unsigned char* const secret = [] {
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    return state.extSecret;
  }();
  return reinterpret_cast<const std::byte*>(secret);
}

std::uint64_t word_at(const std::byte* bytes) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof(word));
  return word;
}

std::uint64_t folded_product(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

}  // namespace

const HashKernels* hash_kernels([[maybe_unused]] Simd simd) {
#if defined(__x86_64__)
  if (simd == Simd::avx512) return &with_avx512::kKernels;
  if (simd == Simd::avx2) return &with_avx2::kKernels;
#endif
  return nullptr;
}

LongHash::LongHash(const HashKernels& kernels)
    : kernels_(kernels), secret_(default_secret()), lanes_{kPrime32_3, kPrime64_1, kPrime64_2, kPrime64_3,
                                                           kPrime64_4, kPrime32_2, kPrime64_5, kPrime32_1} {}

std::uint64_t LongHash::value(std::span<const std::byte> bytes) {
  kernels_.take_last(lanes_, secret_, bytes.data() + bytes.size() - kStripe);
  std::uint64_t hash = bytes.size() * kPrime64_1;
  for (std::size_t i = 0; i < lanes_.size(); i += 2) {
    const std::byte* key = secret_ + kSecretOfMerge + i * sizeof(std::uint64_t);
    hash += folded_product(lanes_[i] ^ word_at(key), lanes_[i + 1] ^ word_at(key + sizeof(std::uint64_t)));
  }
  hash ^= hash >> 37;
  hash *= kPrimeOfAvalanche;
  return hash ^ (hash >> 32);
}

}  // namespace fenix_impl
