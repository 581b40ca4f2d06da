// SPDX-License-Identifier: BSD-3-Clause
#include "core/operations/deletion.hpp"

#include <algorithm>
#include <vector>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "core/common/meeting.hpp"
#include "core/steps/snapshot_epochs.hpp"

namespace fenix_impl {

void Deletion::delete_member(Member& member) {
  (void)context_.requests.access(member);
  const std::int32_t id = member.id();
  context_.members.note_deleted(id);
  (void)member.release_memory();
  context_.members.drop(id);
}

template <class Condition>
void Deletion::delete_if(Condition&& condition) {
  context_.log.delete_if(condition, [&] {
    // What slots had in common with the latest snapshot is not known any more, if that has gone.
    for (const auto& member : context_.members) member->forget_slots();
  });
}

void Deletion::delete_snapshot(const SnapshotChoice& choice) {
  if (context_.log.own_snapshots().empty()) throw Error(FENIX_ERROR_NODATA_FOUND, "the group has no snapshot");
  const Epoch chosen = exact_own_epoch(context_, choice);
  fault_point("delete.begin");
  if (context_.attachment.is_usable()) {
    // The thread of an asynchronous store looks at what is forgotten here.
    for (const auto& member : context_.members) (void)context_.requests.access(*member);
    // Snapshots older than depth must not come up again in the place of the deleted one.
    context_.reclaimer.find_commits();
    context_.reclaimer.forget_old();
  }
  const bool all = choice.kind == SnapshotChoice::Kind::all;
  delete_if([&](Epoch epoch) { return all || epoch == chosen; });
  context_.reclaimer.forget_old();
}

bool Deletion::make_consistent(bool is_deleted) {
  return together(context_.team(), [&] { return remove_inconsistent(is_deleted); });
}

bool Deletion::remove_inconsistent(bool is_deleted) {
  fault_point("barrier.begin");
  const auto deleted = meet(context_.team(), Operation::consistency, 0, is_deleted ? 1 : 0, [] {});
  if (deleted.bits != 0) return false;

  const auto consistent = consistent_now(context_);
  delete_if([&](Epoch epoch) { return epoch <= consistent.newest && !contains(consistent.epochs, epoch); });
  fault_point("barrier.snapshots");
  std::vector<std::int32_t> ids;
  for (const auto& member : context_.members) ids.push_back(member->id());
  const auto on_all = context_.team().reduce_lists(
      std::span<const std::int32_t>(ids), [](std::vector<std::int32_t>& into, std::span<const std::int32_t> from) {
        std::erase_if(into, [&](std::int32_t id) { return std::find(from.begin(), from.end(), id) == from.end(); });
      });
  for (const std::int32_t id : ids) {
    if (std::find(on_all.begin(), on_all.end(), id) != on_all.end()) continue;
    delete_member(*context_.members.find(id));
    context_.members.forget_deleted(id);
  }
  context_.attachment.path().give_back(context_.team());
  fault_point("barrier.done");
  context_.reclaimer.forget_old();
  return true;
}

}  // namespace fenix_impl
