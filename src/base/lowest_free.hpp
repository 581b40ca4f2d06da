// SPDX-License-Identifier: BSD-3-Clause
// The choice of a slot of a member, or of an entry in the log: the lowest number that is not in use.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>

namespace fenix_impl {

/// Returns the lowest number below end that is not among used; none if all are.
[[nodiscard]] inline std::optional<std::uint32_t> lowest_free(std::uint32_t end, std::span<const std::uint32_t> used) {
  for (std::uint32_t number = 0; number < end; ++number) {
    if (std::find(used.begin(), used.end(), number) == used.end()) return number;
  }
  return std::nullopt;
}

}  // namespace fenix_impl
