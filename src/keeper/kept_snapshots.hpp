// SPDX-License-Identifier: BSD-3-Clause
// The latest commits of the ranks of this node, in their memory, which stays when they die: they are written if no job is started again
// soon. Offers of snapshots that have been overwritten are noticed by their hashes.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "keeper/flush_job.hpp"

namespace fenix_impl {

class KeptSnapshots {
 public:
  /// Keeps the offer of a rank for a snapshot, and of each group only the newest few snapshots. Throws std::runtime_error if the offer is
  /// no good.
  void keep(const DatasetPlan& plan, std::uint32_t writer, RankOffer offer, std::vector<Descriptor> regions);
  [[nodiscard]] bool empty() const;
  /// Forgets snapshots that were deleted.
  void drop(const Dropped& dropped);
  void drop(const DatasetName& name);
  void clear() { jobs_.clear(); }
  /// Forgets the snapshots of a run and of those before it.
  void forget_until(std::uint32_t run);
  /// Forgets all, and returns those of which all ranks of this node have offered their data.
  [[nodiscard]] std::vector<std::shared_ptr<FlushJob>> take_complete();
  /// Forgets those of a run and of those before it, and returns them likewise.
  [[nodiscard]] std::vector<std::shared_ptr<FlushJob>> take_complete_until(std::uint32_t run);

 private:
  [[nodiscard]] std::shared_ptr<FlushJob> job_of(const DatasetName& name) const;

  std::vector<std::shared_ptr<FlushJob>> jobs_;
};

}  // namespace fenix_impl
