// SPDX-License-Identifier: BSD-3-Clause
// Numbers that must not be mixed up.
#pragma once

#include <compare>
#include <cstdint>

namespace fenix_impl {

/// Count of the commits of a group: the first commit makes epoch 1. 0 is "none".
struct Epoch {
  std::uint64_t value = 0;
  auto operator<=>(const Epoch&) const = default;
  [[nodiscard]] Epoch next() const { return {value + 1}; }
  [[nodiscard]] bool none() const { return value == 0; }
};

/// Count of the attachments of a group to a communicator: grows with every repair that the group has been through.
struct Generation {
  std::uint32_t value = 0;
  auto operator<=>(const Generation&) const = default;
};

/// A numbering of the ranks of a group: their number, and the generation in which it came up. Slots and redundancy sets belong to it.
struct Shape {
  Generation since;
  std::int32_t ranks = 0;
  auto operator<=>(const Shape&) const = default;
};

}  // namespace fenix_impl
