// SPDX-License-Identifier: BSD-3-Clause
#include "base/simd/copy.hpp"

#include <unistd.h>

#define XXH_STATIC_LINKING_ONLY  // for a state on the stack
#include <xxhash.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/caches.hpp"
#include "base/simd/hash.hpp"
#include "base/simd/hash_kernels.hpp"
#include "base/simd/vectors.hpp"

namespace fenix_impl {
namespace {

// A store to two slots in turn, each with a copy, has five times its bytes in the caches. Data that is somewhat too large for
// them is still faster there. Measured on AMD Zen 5 (L2 1 MiB, L3 32 MiB) with two processes, and with four on two cores.
constexpr std::uint64_t kShareOfCaches = 4;

std::uint64_t least_worth_streaming(std::uint64_t processes) {
  const auto processors = std::max<long>(1, sysconf(_SC_NPROCESSORS_ONLN));
  static const Caches caches = read_caches("", static_cast<std::uint64_t>(processors));
  return caches.share_of(processes) / kShareOfCaches;
}

std::atomic<std::uint64_t>& worth_streaming_from() {
  static std::atomic<std::uint64_t> bytes{least_worth_streaming(1)};
  return bytes;
}

// Bytes of a piece. Its second reading finds it in the first cache.
constexpr std::size_t kPiece = 4096;
static_assert(kPiece % (kStripe * kStripesOfBlock) == 0);

[[maybe_unused]] constexpr std::size_t kCopyPrefetch = 2048;

// Copies of whole lines. Where the stores are streaming, targets are aligned to kLine.
struct CopyKernels {
  using Lines = void (*)(const std::byte* from, std::size_t lines, std::byte* to, std::byte* also_to);
  Lines streaming;
  Lines streaming_twice;
  Lines cached_twice;
};

#if defined(__x86_64__)
namespace with_avx2 {
using namespace avx2;
#define FENIX_KERNEL FENIX_AVX2
#include "base/simd/copy_kernels_of_set.hpp"
#undef FENIX_KERNEL
}  // namespace with_avx2
namespace with_avx512 {
using namespace avx512;
#define FENIX_KERNEL FENIX_AVX512
#include "base/simd/copy_kernels_of_set.hpp"
#undef FENIX_KERNEL
}  // namespace with_avx512
#endif

// nullptr if the set has nothing better than memcpy.
const CopyKernels* copy_kernels([[maybe_unused]] Simd simd) {
#if defined(__x86_64__)
  if (simd == Simd::avx512) return &with_avx512::kKernels;
  if (simd == Simd::avx2) return &with_avx2::kKernels;
#endif
  return nullptr;
}

// The standard forbids memcpy of nothing from nowhere.
void copy_cached(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
}

void stream(const CopyKernels& kernels, std::byte* to, const std::byte* from, std::size_t bytes) {
  const std::size_t head = std::min(to_line(to), bytes);
  const std::size_t lines = (bytes - head) / kLine;
  const std::size_t tail = head + lines * kLine;
  copy_cached(to, from, head);
  kernels.streaming(from + head, lines, to + head, nullptr);
  copy_cached(to + tail, from + tail, bytes - tail);
}

// Copies one target's part of the piece of from that begins at an offset. The borders are where lines of the target begin.
void stream_piece(const CopyKernels& kernels, std::byte* to, std::span<const std::byte> from, std::size_t offset) {
  const auto border = [&](std::size_t at) { return std::min(at + to_line(to), from.size()); };
  const std::size_t begin = offset == 0 ? 0 : border(offset);
  const std::size_t end = offset + kPiece >= from.size() ? from.size() : border(offset + kPiece);
  stream(kernels, to + begin, from.data() + begin, end - begin);
}

void copy_piece(const CopyKernels* kernels, std::byte* to, std::span<const std::byte> from, std::size_t offset) {
  if (kernels != nullptr) {
    stream_piece(*kernels, to, from, offset);
  } else {
    copy_cached(to + offset, from.data() + offset, std::min(kPiece, from.size() - offset));
  }
}

// hash_bytes with xxHash itself, piece by piece.
template <class Copy>
std::uint64_t hash_pieces(std::span<const std::byte> from, Copy&& copy) {
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  for (std::size_t at = 0; at < from.size(); at += kPiece) {
    XXH3_64bits_update(&state, from.data() + at, std::min(kPiece, from.size() - at));
    copy(at);
  }
  return XXH3_64bits_digest(&state);
}

template <class Copy>
std::uint64_t hash_pieces(const HashKernels& kernels, std::span<const std::byte> from, Copy&& copy) {
  LongHash hash(kernels);
  const std::size_t stripes = LongHash::stripes_of(from.size());
  for (std::size_t at = 0; at < from.size(); at += kPiece) {
    const std::size_t before = at / kStripe;
    if (before < stripes) hash.take(kernels.only, from.data() + at, std::min(kPiece / kStripe, stripes - before));
    copy(at);
  }
  return hash.value(from);
}

// From the registers that are hashed.
std::uint64_t hash_and_store(const HashKernels& kernels, std::byte* to, std::byte* also_to,
                             std::span<const std::byte> from, Stores stores) {
  HashKernels::Take how = also_to != nullptr ? kernels.copying_twice : kernels.copying;
  if (stores == Stores::streaming) how = also_to != nullptr ? kernels.streaming_twice : kernels.streaming;
  LongHash hash(kernels);
  const std::size_t stripes = LongHash::stripes_of(from.size());
  hash.take(how, from.data(), stripes, to, also_to);
  const auto rest = from.subspan(stripes * kStripe);
  std::memcpy(to + stripes * kStripe, rest.data(), rest.size());
  if (also_to != nullptr) std::memcpy(also_to + stripes * kStripe, rest.data(), rest.size());
  return hash.value(from);
}

}  // namespace

void expect_processes_on_node(std::uint64_t number) {
  worth_streaming_from().store(least_worth_streaming(number), std::memory_order_relaxed);
}

bool worth_streaming(std::uint64_t bytes) { return bytes >= worth_streaming_from().load(std::memory_order_relaxed); }

void copy_bytes(std::span<std::byte> to, std::span<const std::byte> from, Stores stores, Simd simd) {
  const CopyKernels* kernels = stores == Stores::streaming ? copy_kernels(simd) : nullptr;
  if (kernels == nullptr) {
    copy_cached(to.data(), from.data(), from.size());
    return;
  }
  stream(*kernels, to.data(), from.data(), from.size());
  end_streaming();
}

void copy_twice(std::span<std::byte> to, std::span<std::byte> also_to, std::span<const std::byte> from, Stores stores,
                Simd simd) {
  const bool streaming = stores == Stores::streaming;
  const CopyKernels* kernels = copy_kernels(simd);
  const std::size_t head = streaming ? std::min(to_line(to.data()), from.size()) : 0;
  if (kernels == nullptr || (streaming && to_line(to.data()) != to_line(also_to.data()))) {
    for (std::size_t at = 0; at < from.size(); at += kPiece) {
      copy_piece(streaming ? kernels : nullptr, to.data(), from, at);
      copy_piece(streaming ? kernels : nullptr, also_to.data(), from, at);
    }
  } else {
    const std::size_t lines = (from.size() - head) / kLine;
    const std::size_t tail = head + lines * kLine;
    for (std::byte* const each : {to.data(), also_to.data()}) {
      copy_cached(each, from.data(), head);
      copy_cached(each + tail, from.data() + tail, from.size() - tail);
    }
    const auto copy_lines = streaming ? kernels->streaming_twice : kernels->cached_twice;
    copy_lines(from.data() + head, lines, to.data() + head, also_to.data() + head);
  }
  if (kernels != nullptr && streaming) end_streaming();
}

std::uint64_t copy_and_hash(std::span<std::byte> to, std::span<std::byte> also_to, std::span<const std::byte> from,
                            Stores stores, Simd simd) {
  std::byte* const second = also_to.empty() ? nullptr : also_to.data();
  const HashKernels* hashing = hash_kernels(simd);
  if (from.size() <= kLongestShortHash) {
    copy_cached(to.data(), from.data(), from.size());
    if (second != nullptr) copy_cached(second, from.data(), from.size());
    return hash_bytes(from);
  }
  if (hashing != nullptr && (stores == Stores::cached || (to_line(to.data()) == 0 && to_line(second) == 0))) {
    const std::uint64_t hash = hash_and_store(*hashing, to.data(), second, from, stores);
    if (stores == Stores::streaming) end_streaming();
    return hash;
  }
  const CopyKernels* copying = stores == Stores::streaming ? copy_kernels(simd) : nullptr;
  const auto copy = [&](std::size_t offset) {
    copy_piece(copying, to.data(), from, offset);
    if (second != nullptr) copy_piece(copying, second, from, offset);
  };
  const std::uint64_t hash = hashing != nullptr ? hash_pieces(*hashing, from, copy) : hash_pieces(from, copy);
  if (copying != nullptr) end_streaming();
  return hash;
}

void copy_bytes(std::span<std::byte> to, std::span<const std::byte> from, Stores stores) {
  copy_bytes(to, from, stores, simd());
}

void copy_twice(std::span<std::byte> to, std::span<std::byte> also_to, std::span<const std::byte> from, Stores stores) {
  copy_twice(to, also_to, from, stores, simd());
}

std::uint64_t copy_and_hash(std::span<std::byte> to, std::span<std::byte> also_to, std::span<const std::byte> from,
                            Stores stores) {
  return copy_and_hash(to, also_to, from, stores, simd());
}

}  // namespace fenix_impl
