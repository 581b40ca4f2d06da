// SPDX-License-Identifier: BSD-3-Clause
#include "core/log/progress_cell.hpp"

#include <atomic>

#include "base/simd/hash.hpp"

namespace fenix_impl {
namespace {

constexpr int kEpochBits = 48;
constexpr std::uint64_t kEpochMask = (std::uint64_t{1} << kEpochBits) - 1;

std::uint64_t tag(Generation generation) { return std::uint64_t{generation.value & 0xffffU}; }

std::uint64_t hash_of(std::uint64_t word) { return hash_bytes(std::as_bytes(std::span(&word, 1))); }

}  // namespace

ProgressWords encode_progress(Generation generation, Epoch epoch) {
  const std::uint64_t word = (tag(generation) << kEpochBits) | (epoch.value & kEpochMask);
  return {word, hash_of(word)};
}

std::optional<Epoch> decode_progress(const ProgressWords& words, Generation generation) {
  if (words[0] >> kEpochBits != tag(generation) || words[1] != hash_of(words[0])) return std::nullopt;
  return Epoch{words[0] & kEpochMask};
}

void ProgressCell::store(const ProgressWords& words) const {
  std::atomic_ref(words_[0]).store(words[0], std::memory_order_relaxed);
  std::atomic_ref(words_[1]).store(words[1], std::memory_order_release);
}

ProgressWords ProgressCell::load() const {
  const std::uint64_t hash = std::atomic_ref(words_[1]).load(std::memory_order_acquire);
  return {std::atomic_ref(words_[0]).load(std::memory_order_acquire), hash};
}

}  // namespace fenix_impl
