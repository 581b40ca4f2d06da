// SPDX-License-Identifier: BSD-3-Clause
// Bytes at any misalignment, with others around them that must stay what they are.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <random>
#include <span>
#include <vector>

namespace fenix_impl {

class GuardedBytes {
 public:
  GuardedBytes(std::size_t bytes, std::size_t misalignment)
      : memory_(bytes + 2 * kGuard + kAlignment, kUntouched), bytes_(bytes) {
    const std::size_t to_aligned = -reinterpret_cast<std::uintptr_t>(memory_.data() + kGuard) % kAlignment;
    begin_ = kGuard + to_aligned + misalignment % kAlignment;
  }

  [[nodiscard]] std::span<std::byte> bytes() { return std::span(memory_).subspan(begin_, bytes_); }

  [[nodiscard]] bool guards_unharmed() const {
    const auto untouched = [](std::byte each) { return each == kUntouched; };
    const auto begin = memory_.begin() + static_cast<std::ptrdiff_t>(begin_);
    return std::all_of(memory_.begin(), begin, untouched) &&
           std::all_of(begin + static_cast<std::ptrdiff_t>(bytes_), memory_.end(), untouched);
  }

 private:
  static constexpr std::size_t kAlignment = 64;
  static constexpr std::size_t kGuard = 192;
  static constexpr std::byte kUntouched{0xA5};

  std::vector<std::byte> memory_;
  std::size_t begin_ = 0;
  std::size_t bytes_;
};

inline GuardedBytes random_bytes(std::size_t bytes, std::size_t misalignment, std::uint64_t seed) {
  GuardedBytes result(bytes, misalignment);
  std::mt19937_64 random(seed);
  const std::span<std::byte> all = result.bytes();
  for (std::size_t at = 0; at < all.size(); at += sizeof(std::uint64_t)) {
    const std::uint64_t word = random();
    std::memcpy(all.data() + at, &word, std::min(sizeof word, all.size() - at));
  }
  return result;
}

/// Sizes at which kernels go other ways: all small ones, and those around their steps and pieces.
inline std::vector<std::size_t> sizes_to_test() {
  std::vector<std::size_t> sizes;
  for (std::size_t size = 0; size <= 300; ++size) sizes.push_back(size);
  for (const auto size : std::initializer_list<std::size_t>{
           511,  512,  513,  959,  1023, 1024, 1025, 1087, 1088, 1089,  2047,  2049,  3333,  4095,   4096,
           4097, 4159, 4160, 4161, 5000, 8191, 8192, 8193, 8257, 12289, 16384, 20001, 65537, 131071, 131072}) {
    sizes.push_back(size);
  }
  return sizes;
}

}  // namespace fenix_impl
