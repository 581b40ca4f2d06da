// SPDX-License-Identifier: BSD-3-Clause
// A snapshot of a group as the store takes it. Local: nothing here waits for another rank, and no slot is held: one that is used anew
// meanwhile is noticed.
#pragma once

#include <cstdint>
#include <vector>

#include "core/parts/operation_context.hpp"
#include "store/dataset_writer.hpp"

namespace fenix_impl {

class Flush {
 public:
  explicit Flush(const OperationContext& context) : context_(context) {}

  /// Returns the plan of the dataset for a snapshot; the same on all ranks. run: number of this job on the store; writers: of the ranks,
  /// by rank.
  [[nodiscard]] DatasetPlan plan(Epoch epoch, std::uint32_t run, std::vector<std::uint32_t> writers) const;
  /// Returns what this rank has committed in a snapshot. It may be read as long as the members have their memory. Throws
  /// Error(FENIX_ERROR_NODATA_FOUND) if the snapshot is gone.
  [[nodiscard]] RankSource source(Epoch epoch) const;

 private:
  const OperationContext& context_;
};

}  // namespace fenix_impl
