// SPDX-License-Identifier: BSD-3-Clause
#include "parity/xor.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <utility>

#include "base/simd/vectors.hpp"

namespace fenix_impl {
namespace {

// How many sources the kernels read at once; more are added up in pieces that stay in the first cache. From the caches,
// two passes over nine streams each are faster than one over 16: streams that begin on pages all fall into the same
// lines of the first cache. From memory it is the other way round.
constexpr std::size_t kMostStreamed = 16;
constexpr std::size_t kMostCached = 9;
constexpr std::size_t kCachedPiece = 4096;

// How many vectors of each source a step takes: as many sums stay in registers.
[[maybe_unused]] constexpr std::size_t kStepVectors = 4;

struct XorKernels {
  using Table =
      std::array<void (*)(std::byte* target, std::size_t bytes, const std::byte* const* sources), kMostStreamed>;
  Table cached;
  Table streaming;
};

#if defined(__x86_64__)
namespace with_avx2 {
using namespace avx2;
#define FENIX_KERNEL FENIX_AVX2
#include "parity/xor_kernels_of_set.hpp"
#undef FENIX_KERNEL
}  // namespace with_avx2
namespace with_avx512 {
using namespace avx512;
#define FENIX_KERNEL FENIX_AVX512
#include "parity/xor_kernels_of_set.hpp"
#undef FENIX_KERNEL
}  // namespace with_avx512

// Up to so many sources are faster in halves of lines if the processor's paths are half as wide as its vectors (Zen 4).
// With streaming stores that is so, or makes no difference, on others too.
constexpr std::size_t kFewSources = 4;

constexpr XorKernels with_few_in_halves(XorKernels best, bool cached_too) {
  if (cached_too) std::copy_n(with_avx2::kKernels.cached.begin(), kFewSources, best.cached.begin());
  std::copy_n(with_avx2::kKernels.streaming.begin(), kFewSources, best.streaming.begin());
  return best;
}
constexpr XorKernels kHalvesForFew = with_few_in_halves(with_avx512::kKernels, true);
constexpr XorKernels kWholeLines = with_few_in_halves(with_avx512::kKernels, false);

// The least time of several, as other work can only add to it.
std::chrono::steady_clock::duration time_of_few(const XorKernels& kernels) {
  alignas(kLine) std::array<std::byte, 2048 * (kFewSources + 1)> memory{};
  constexpr std::size_t kBytes = memory.size() / (kFewSources + 1);
  std::array<const std::byte*, kFewSources> sources{};
  for (std::size_t i = 0; i < kFewSources; ++i) sources[i] = memory.data() + (i + 1) * kBytes;
  auto least = std::chrono::steady_clock::duration::max();
  for (int attempt = 0; attempt < 8; ++attempt) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 16; ++i) kernels.cached[kFewSources - 1](memory.data(), kBytes, sources.data());
    least = std::min(least, std::chrono::steady_clock::now() - begin);
  }
  return least;
}

// Measures once, in some 10 µs: what is computed is the same either way.
const XorKernels& best_of_avx512() {
  static const bool halves = time_of_few(kHalvesForFew) <= time_of_few(kWholeLines);
  return halves ? kHalvesForFew : kWholeLines;
}
#elif defined(__aarch64__)
namespace with_neon {
using namespace neon;
#define FENIX_KERNEL
#include "parity/xor_kernels_of_set.hpp"
#undef FENIX_KERNEL
}  // namespace with_neon
#endif

// nullptr for scalar.
const XorKernels* kernels_of(Simd simd) {
  switch (simd) {
#if defined(__x86_64__)
    case Simd::avx2:
      return &with_avx2::kKernels;
    case Simd::avx512:
      return &best_of_avx512();
#elif defined(__aarch64__)
    case Simd::neon:
      return &with_neon::kKernels;
#endif
    default:
      return nullptr;
  }
}

void xor_scalar(std::span<std::byte> target, std::span<const std::byte* const> sources) {
  std::size_t at = 0;
  for (; at + sizeof(std::uint64_t) <= target.size(); at += sizeof(std::uint64_t)) {
    std::uint64_t sum = 0;
    for (const std::byte* source : sources) {
      std::uint64_t word = 0;
      std::memcpy(&word, source + at, sizeof(word));
      sum ^= word;
    }
    std::memcpy(target.data() + at, &sum, sizeof(sum));
  }
  for (; at < target.size(); ++at) {
    std::byte sum{0};
    for (const std::byte* source : sources) sum ^= source[at];
    target[at] = sum;
  }
}

std::size_t most_at_once(Stores stores) { return stores == Stores::streaming ? kMostStreamed : kMostCached; }

// More sources than are read at once. The sum is kept apart until the end, since the target may be any of the sources.
void xor_many(const XorKernels& kernels, std::span<std::byte> target, std::span<const std::byte* const> sources,
              Stores stores) {
  alignas(kLine) std::array<std::byte, kCachedPiece + kLine> sum;
  std::array<const std::byte*, kMostStreamed> some{};
  for (std::size_t at = 0; at < target.size();) {
    // The last piece takes the rest of up to a line with it: kernels take no less than a line.
    const std::size_t left = target.size() - at;
    const std::size_t taken = left <= sum.size() ? left : kCachedPiece;
    std::size_t used = 0;
    std::size_t count = 0;
    while (used < sources.size()) {
      if (used > 0) some[count++] = sum.data();
      while (count < most_at_once(stores) && used < sources.size()) some[count++] = sources[used++] + at;
      const bool last = used == sources.size();
      const auto& table = last && stores == Stores::streaming ? kernels.streaming : kernels.cached;
      table[count - 1](last ? target.data() + at : sum.data(), taken, some.data());
      count = 0;
    }
    at += taken;
  }
}

}  // namespace

void xor_bytes(std::span<std::byte> target, std::span<const std::byte* const> sources, Stores stores, Simd simd) {
  if (target.empty()) return;
  const XorKernels* kernels = kernels_of(simd);
  if (sources.empty()) {
    std::memset(target.data(), 0, target.size());
  } else if (kernels == nullptr || target.size() < kLine) {
    xor_scalar(target, sources);
  } else {
    if (sources.size() > most_at_once(stores)) {
      xor_many(*kernels, target, sources, stores);
    } else {
      const auto& table = stores == Stores::streaming ? kernels->streaming : kernels->cached;
      table[sources.size() - 1](target.data(), target.size(), sources.data());
    }
    if (stores == Stores::streaming) end_streaming();
  }
}

void xor_bytes(std::span<std::byte> target, std::span<const std::byte* const> sources, Stores stores) {
  xor_bytes(target, sources, stores, simd());
}

}  // namespace fenix_impl
