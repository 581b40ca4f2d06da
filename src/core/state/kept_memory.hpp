// SPDX-License-Identifier: BSD-3-Clause
// The memory that the rank of this number had in an earlier run of the job, as the keeper of the node has it.
#pragma once

#include <cstdint>
#include <vector>

#include "base/types.hpp"
#include "core/state/orphaned_memory.hpp"

namespace fenix_impl {

/// The run and the generation in which a group was kept.
struct KeptOrigin {
  std::uint32_t run = 0;
  Generation generation;
};

struct KeptMemory {
  KeptOrigin origin;
  bool has_commits = false;  ///< as far as was known when it was described
  std::uint32_t tries = 0;   ///< jobs that have gone on with it, and have not committed
  std::uint32_t log_entries = 0;
  std::vector<int> order;  ///< of the ranks, for the placement
  std::vector<OrphanedRegion> regions;
};

}  // namespace fenix_impl
