// SPDX-License-Identifier: BSD-3-Clause
#include "core/steps/restore_meeting.hpp"

#include "base/error.hpp"
#include "base/fault.hpp"
#include "core/common/meeting.hpp"
#include "core/steps/restore_target.hpp"
#include "core/steps/same_on_all.hpp"
#include "core/steps/snapshot_epochs.hpp"

namespace fenix_impl {
namespace {

// In a rank's note, beside its epoch.
constexpr std::uint64_t kRestores = std::uint64_t{1} << 61;
constexpr std::uint64_t kRepairs = std::uint64_t{1} << 62;

}  // namespace

RestoreMeeting meet_to_restore(const OperationContext& context, std::int32_t member_id,
                               const std::optional<SnapshotChoice>& choice, const std::function<void()>& check) {
  std::optional<std::uint64_t> same_on_all;
  if (choice) same_on_all = hash_of(member_id, *choice);
  const std::uint64_t note = epoch_note(context.log) | (choice ? kRestores : kRepairs);
  auto notes = meet(context.team(), Operation::restore, same_on_all, note, [&] {
    if (choice) (void)context.log.mend_own();
    check();
    if (context.members.find(member_id) == nullptr) {
      throw Error(FENIX_ERROR_INVALID_MEMBERID, name_of_member(member_id) + " is not in the group");
    }
  });
  fault_point("restore.met");
  RestoreMeeting met{(notes.bits & kRestores) != 0, (notes.bits & kRepairs) != 0, {}};
  if (met.some_repair) {
    (void)meet(context.team(), Operation::repair, static_cast<std::uint64_t>(member_id), 0, [] {});
    if (met.some_restore) met.epochs = consistent_now(context).epochs;
    return met;
  }
  notes.least &= ~kRestores;
  met.epochs = agreed_epochs(context, notes);
  return met;
}

void meet_ranks_that_restore(const OperationContext& context) {
  const auto ready = meet(context.team(), Operation::restore_ready, 0, 0, [] {});
  write_on_all(context.team(), ready.bits, [] {});
}

}  // namespace fenix_impl
