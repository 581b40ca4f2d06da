// SPDX-License-Identifier: BSD-3-Clause
// The page that layouts of regions are rounded to, and the system's own page, which may be larger: layouts take more memory there.
#pragma once

#include <unistd.h>

#include <cstddef>

namespace fenix_impl {

constexpr std::size_t kPage = 4096;
/// The largest page of the systems that the library runs on.
constexpr std::size_t kLargestPage = std::size_t{64} << 10;

/// Returns the page of this system: addresses and offsets that it is given for mapped memory have to be multiples of it.
[[nodiscard]] inline std::size_t system_page() {
  static const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return page;
}

/// Rounds a number of bytes up to whole pages of layouts.
[[nodiscard]] constexpr std::size_t to_pages(std::size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

}  // namespace fenix_impl
