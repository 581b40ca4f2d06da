// SPDX-License-Identifier: BSD-3-Clause
// What a rank leaves when it dies, as far as another rank of its node keeps it: the memory of a group.
#pragma once

#include <cstdint>
#include <vector>

#include "core/slots.hpp"
#include "rma/kept_region.hpp"

namespace fenix_impl {

/// One region of it, as its keeper offers it to the rank that takes the place of the owner.
struct Legacy {
  static constexpr std::int64_t kControl = -1;

  std::int32_t owner = -1;       ///< rank in the team
  std::uint32_t places = 0;      ///< of the log, if it is the control region
  std::int64_t what = kControl;  ///< or the id of a member
  RegionAddress address;
  SlotLayout layout;  ///< if it is a member's
};

struct Estate {
  struct Part {
    Legacy legacy;
    KeptRegion region;
  };
  std::vector<Part> parts;  ///< all of one owner; the control region comes first

  [[nodiscard]] int owner() const { return parts.empty() ? -1 : parts.front().region.owner(); }
};

}  // namespace fenix_impl
