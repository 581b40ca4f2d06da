// SPDX-License-Identifier: BSD-3-Clause
#include "core/store_link.hpp"

#include "core/common/meeting.hpp"
#include "core/steps/snapshot_epochs.hpp"

namespace fenix_impl {

Epoch StoreLink::agree_on_snapshot(const SnapshotChoice& choice, std::uint64_t hash,
                                   const std::function<void()>& check) {
  const OperationContext& context = data_.context;
  return agree_on_epoch(context, choice, meet(context.team(), Operation::flush, hash, epoch_note(data_.log), check));
}

}  // namespace fenix_impl
