// SPDX-License-Identifier: BSD-3-Clause
// Where ranks run, as far as it matters for what can fail at once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace fenix_impl {

/// Ranks with the same node, or the same domain, may die together. The numbers are names only.
struct Location {
  std::uint64_t domain = 0;  ///< a rack or a switch; 0 if the user has named none
  std::uint64_t node = 0;

  auto operator<=>(const Location&) const = default;
};

/// The ranks, one node after the other and those of a domain next to each other: ranks that are far apart in this order share
/// neither, as far as that is possible.
[[nodiscard]] std::vector<int> order_of(std::span<const Location> ranks);

/// Whether it is an order of all ranks from 0 to its size - 1.
[[nodiscard]] bool is_order(std::span<const int> order);

}  // namespace fenix_impl
