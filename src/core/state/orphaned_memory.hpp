// SPDX-License-Identifier: BSD-3-Clause
// The memory of a rank that has died, as far as another rank of its node keeps it open: the regions of a group.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/member/slots.hpp"
#include "rma/kept_region.hpp"

namespace fenix_impl {

/// One region of it, as its keeper offers it to the rank that takes the place of the owner.
struct OrphanedRegion {
  static constexpr std::int64_t kControl = -1;
  /// Returns the number that stands for the buffer of a member.
  [[nodiscard]] static constexpr std::int64_t buffer_of(std::int32_t member_id) {
    return (std::int64_t{1} << 32) + member_id;
  }

  std::int32_t owner = -1;       ///< rank in the team
  std::uint32_t entries = 0;     ///< of the log, if it is the control region
  std::int64_t what = kControl;  ///< or the id of a member, or what buffer_of() returns
  RegionAddress address;
  SlotLayout layout;  ///< if it is a member's
};

struct OrphanedMemory {
  struct Part {
    OrphanedRegion offer;
    KeptRegion region;
  };
  std::vector<Part> parts;  ///< all of one owner; the control region comes first

  /// Returns the rank that it belonged to; negative if there is none.
  [[nodiscard]] int owner() const { return parts.empty() ? -1 : parts.front().region.owner(); }
  /// Returns the regions that can be offered: none if the owner may live yet.
  [[nodiscard]] std::vector<OrphanedRegion> offers() const;
};

}  // namespace fenix_impl
