// SPDX-License-Identifier: BSD-3-Clause
// Warm replacement: a rank that takes the place of a dead one on the same node takes over its memory. Nothing has to be fetched
// or rebuilt then. Local.
#pragma once

#include <span>
#include <utility>

#include "core/state/operation_context.hpp"
#include "core/state/orphaned_memory.hpp"

namespace fenix_impl {

class Adoption {
 public:
  explicit Adoption(const OperationContext& context) : context_(context) {}

  /// Returns the memory that this rank keeps open for another one, before the remote regions go. Empty if there is none, or no memory
  /// to note it.
  [[nodiscard]] OrphanedMemory keep() const;
  /// Takes over the control region and the regions of all members. False if that cannot be done: then nothing has changed.
  bool adopt(std::span<const OrphanedRegion> regions);

 private:
  static void adopt_buffer(Member& member, const OrphanedRegion& offer);
  void clear_unfitting(const RecordLog& log, std::span<const std::pair<Region, SlotLayout>> of_members) const;

  const OperationContext& context_;
};

}  // namespace fenix_impl
