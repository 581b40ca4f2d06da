// SPDX-License-Identifier: BSD-3-Clause
// Memory that earlier processes have left on this node, until the group has it, or goes on without it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "core/state/kept_memory.hpp"
#include "core/state/orphaned_memory.hpp"

namespace fenix_impl {

struct InheritedMemory {
  OrphanedMemory orphaned;           ///< of another rank of this job, from its failure until the group goes on
  std::unique_ptr<KeptMemory> kept;  ///< of the rank of this number in an earlier run, or null
  /// Origin of the kept memory, as long as some rank may not have taken over its own.
  std::optional<KeptOrigin> origin;
  /// Number of jobs, this one among them, that have gone on with the memory and have not committed.
  std::uint32_t tries = 0;
};

}  // namespace fenix_impl
