// SPDX-License-Identifier: BSD-3-Clause
// A snapshot of a group as the keeper takes it. Local: nothing here waits for another rank, and no slot is held: one that is used anew
// meanwhile is noticed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "core/state/operation_context.hpp"
#include "keeper/offer.hpp"
#include "store/plan.hpp"

namespace fenix_impl {

class Flush {
 public:
  /// The offer of a rank, and the memory that it is in, by member.
  struct Offered {
    RankOffer offer;
    std::vector<SharedFile> regions;
  };

  explicit Flush(const OperationContext& context) : context_(context) {}

  /// Returns the plan of the dataset for a snapshot; the same on all ranks. label: of the user, or empty; run: number of this job on the
  /// store; writers: of the ranks, by rank.
  [[nodiscard]] DatasetPlan plan(Epoch epoch, std::string label, std::uint32_t run,
                                 std::vector<std::uint32_t> writers) const;
  /// Returns what this rank has committed in a snapshot. Without hashes, this reads all of it. Throws Error(FENIX_ERROR_NODATA_FOUND) if
  /// the snapshot is gone, or damaged.
  [[nodiscard]] Offered offer(Epoch epoch) const;

 private:
  [[nodiscard]] MemberOffer offer_of(const MemberVersion& version, const Member& member) const;

  const OperationContext& context_;
};

}  // namespace fenix_impl
