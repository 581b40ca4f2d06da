// SPDX-License-Identifier: BSD-3-Clause
// A redundancy policy with its values; the same on all ranks of a group.
#pragma once

#include <cstdint>

namespace fenix_impl {

struct Policy {
  enum class Kind : std::int32_t {
    buddies = 1,       ///< pairs, and one chain of three if the number of ranks is odd (API reference, mode 1)
    ring = 2,          ///< rank N's data on rank N + separation (specification 3.2.3, peer rank separation)
    local = 3,         ///< no redundancy
    parity = 4,        ///< redundancy sets of ranks with XOR parity (API reference, mode 5)
    reed_solomon = 5,  ///< the same with a code that survives several losses
  };

  Kind kind = Kind::buddies;
  static constexpr std::int32_t kChosen = 0;

  std::int32_t separation = 1;  ///< or kChosen: such that ranks that protect each other share neither node nor domain
  std::int32_t set_size = 0;    ///< for parity and reed_solomon: ranks of a redundancy set
  std::int32_t losses = 1;      ///< ranks that a redundancy set can lose

  /// Most ranks of a redundancy set: one may get as many again that are left over, and codes end at 255.
  static constexpr std::int32_t kMostSetSize = 128;

  bool operator==(const Policy&) const = default;
  [[nodiscard]] bool keeps_copies() const { return kind == Kind::buddies || kind == Kind::ring; }
  [[nodiscard]] bool has_redundancy() const { return kind != Kind::local; }
  [[nodiscard]] bool encodes() const { return kind == Kind::parity || kind == Kind::reed_solomon; }
};

}  // namespace fenix_impl
