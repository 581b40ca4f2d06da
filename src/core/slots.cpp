// SPDX-License-Identifier: BSD-3-Clause
#include "core/slots.hpp"

#include <algorithm>
#include <limits>

#include "base/error.hpp"

namespace fenix_impl {
namespace {

constexpr std::uint64_t kCacheLine = 64;
constexpr std::uint64_t kPage = 4096;

// Large slots start on a page, small ones on a cache line: both are cheap there.
std::uint64_t stride(std::uint64_t bytes) {
  const std::uint64_t unit = bytes >= kPage ? kPage : kCacheLine;
  if (bytes > std::numeric_limits<std::uint64_t>::max() - unit) return std::numeric_limits<std::uint64_t>::max();
  return (bytes + unit - 1) / unit * unit;
}

}  // namespace

SlotLayout::SlotLayout(std::uint32_t slots, std::uint64_t own_bytes, std::uint64_t held_bytes)
    : slots_(slots), own_stride_(stride(own_bytes)), held_stride_(stride(held_bytes)) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 62;
  if (own_stride_ > kMost / slots / 2 || held_stride_ > kMost / slots / 2) {
    throw Error(FENIX_ERROR_NO_MEMORY, "the member is larger than an address can express");
  }
}

std::optional<std::uint32_t> free_slot(std::uint32_t slots, std::span<const std::uint32_t> used) {
  for (std::uint32_t slot = 0; slot < slots; ++slot) {
    if (std::find(used.begin(), used.end(), slot) == used.end()) return slot;
  }
  return std::nullopt;
}

}  // namespace fenix_impl
