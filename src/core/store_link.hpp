// SPDX-License-Identifier: BSD-3-Clause
// The side of a group that the store of the job sees: the dataset that the group begins with, and the snapshots that are flushed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "core/member/selection.hpp"
#include "core/operations/flush.hpp"
#include "core/state/group_data.hpp"

namespace fenix_impl {

/// A handle, valid as long as the group.
class StoreLink {
 public:
  explicit StoreLink(GroupData& data) : data_(data) {}

  /// Notes that nobody has looked yet whether the store has a dataset of the group, or that somebody has.
  void await_dataset(bool awaits) { data_.store.is_awaited = awaits; }
  /// Gives the group a dataset of another number of ranks, which all ranks can read. Local.
  void set_dataset(std::shared_ptr<KeeperClient> keeper, const DatasetPlan& plan) {
    data_.store.dataset = std::make_unique<StoredArchive>(std::move(keeper), plan);
  }
  void drop_dataset() { data_.store.dataset.reset(); }
  /// Sets the time stamp from which those of the group are counted.
  void set_start_time_stamp(std::int32_t time_stamp) { data_.parameters.start_time_stamp = time_stamp; }

  /// Has a function called before the record of a commit counts, when the memory is as the record needs it. It must not throw.
  void call_before_record(std::function<void()> call) { data_.store.before_record = std::move(call); }
  /// Agrees with the other ranks on the snapshot to flush. hash: of what all ranks must have given; check: of the arguments; all ranks
  /// get to know what it throws. Collective.
  [[nodiscard]] Epoch agree_on_snapshot(const SnapshotChoice& choice, std::uint64_t hash,
                                        const std::function<void()>& check);
  /// Returns the operation that offers snapshots to the keeper.
  [[nodiscard]] Flush flush() { return Flush(data_.context); }
  /// Keeps slots from being used anew as long as the keeper reads them.
  void hold(FlushHold slots) { data_.reclaimer.hold(std::move(slots)); }

 private:
  GroupData& data_;
};

}  // namespace fenix_impl
