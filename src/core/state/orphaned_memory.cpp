// SPDX-License-Identifier: BSD-3-Clause
#include "core/state/orphaned_memory.hpp"

#include "rma/processes.hpp"

namespace fenix_impl {

std::vector<OrphanedRegion> OrphanedMemory::offers() const {
  std::vector<OrphanedRegion> offered;
  if (parts.empty()) return offered;
  // A rank that only seems to be dead might still write to it.
  if (!is_gone(parts.front().region.owner_process())) return offered;
  for (const Part& part : parts) offered.push_back(part.offer);
  return offered;
}

}  // namespace fenix_impl
