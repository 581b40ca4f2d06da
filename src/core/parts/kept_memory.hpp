// SPDX-License-Identifier: BSD-3-Clause
// The memory that the rank of this number had in an earlier run of the job, as the keeper of the node has it.
#pragma once

#include <cstdint>
#include <vector>

#include "base/types.hpp"
#include "core/parts/orphaned_memory.hpp"

namespace fenix_impl {

struct KeptMemory {
  std::uint32_t run = 0;
  Generation generation;
  std::uint32_t log_entries = 0;
  std::vector<int> order;  ///< of the ranks, for the placement
  std::vector<OrphanedRegion> regions;
};

}  // namespace fenix_impl
