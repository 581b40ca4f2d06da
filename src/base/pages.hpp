// SPDX-License-Identifier: BSD-3-Clause
// The page that layouts of regions are rounded to. The system's own page may be larger: that costs memory, and nothing else.
#pragma once

#include <cstddef>

namespace fenix_impl {

constexpr std::size_t kPage = 4096;

/// Rounds a number of bytes up to whole pages.
[[nodiscard]] constexpr std::size_t to_pages(std::size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

}  // namespace fenix_impl
