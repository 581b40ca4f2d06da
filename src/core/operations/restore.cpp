// SPDX-License-Identifier: BSD-3-Clause
#include "core/operations/restore.hpp"

#include <memory>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/log.hpp"
#include "core/common/meeting.hpp"
#include "core/steps/snapshot_epochs.hpp"

namespace fenix_impl {

const MemberVersion& RestoreOperation::checked_version(Member& member, Epoch epoch) {
  const LoggedRecord* logged = context_.log.at(epoch);
  if (logged == nullptr) {
    throw Error(FENIX_ERROR_NODATA_FOUND, "the snapshot with the time_stamp " +
                                              std::to_string(context_.parameters.time_stamp_of(epoch)) + " is gone");
  }
  const MemberVersion* version = version_in(logged->record, member);
  if (version == nullptr) throw Error(FENIX_ERROR_NODATA_FOUND, name_of(member) + " is not in the snapshot");
  if (own_is_sound(context_.parameters, member, *version)) return *version;
  log().warn("group {} member {}: the data of this rank is damaged, making it anew", context_.parameters.id,
             member.id());
  if (context_.protection().mend_own(member, *version, epoch)) return *version;
  throw Error(FENIX_ERROR_NODATA_FOUND, name_of(member) + " is damaged beyond repair");
}

Found RestoreOperation::run(std::int32_t member_id, const SnapshotChoice& choice, const Target& target,
                            const RestoreMeeting& met) {
  Member& member = *context_.members.find(member_id);
  const MemberVersion* version = nullptr;
  Found found;
  together(context_.team(), [&] { version = &agree(member, choice, target, met, found); });
  fault_point("restore.ready");
  write_on_all(context_.team(), serializers_,
               [&] { write_to(target, member, member.memory.own_slot(version->slot).data, found.elements); });
  fault_point("restore.done");
  return found;
}

const MemberVersion& RestoreOperation::agree(Member& member, const SnapshotChoice& choice, const Target& target,
                                             const RestoreMeeting& met, Found& found) {
  const MemberVersion* version = nullptr;
  std::optional<Error> lost;
  const auto ready = meet(context_.team(), Operation::restore_ready, 0, note_of_serializer(member), [&] {
    // Without redundancy, what a dead rank had is gone, and the others go on.
    if (!is_known_here(context_.parameters, member)) {
      lost = unknown_here(member);
    } else if (context_.log.has_lost_data()) {
      lost = Error(FENIX_ERROR_NODATA_FOUND, "the snapshot was lost with the rank whose place this one has taken");
    }
    if (lost) return;
    version = &checked_version(member, choose_epoch(context_.parameters, choice, met.epochs));
    found = found_in(*version, choice, member.info().resizeable, target.limit);
    check_target(found, target, member);
  });
  serializers_ = ready.bits;
  if (!lost) return *version;
  write_on_all(context_.team(), serializers_, [] {});
  throw Error(*lost);
}

Found RestoreOperation::run_alone(Member& member, const SnapshotChoice& choice, const Target& target) {
  const MemberVersion& version = checked_version(member, own_epoch(context_, choice));
  Found found = found_in(version, choice, member.info().resizeable, target.limit);
  check_target(found, target, member);
  write_to(target, member, member.memory.own_slot(version.slot).data, found.elements);
  return found;
}

std::FILE* RestoreOperation::open(Member& member, const SnapshotChoice& choice, Found& found) {
  const MemberVersion& version = checked_version(member, own_epoch(context_, choice));
  found = found_in(version, choice, member.info().resizeable);
  const std::uint64_t bytes = found.elements.end() * member.element_bytes();
  auto file = std::make_unique<SlotFile>(member.memory.own_slot(version.slot).data.first(bytes));
  context_.members.close_ended_files(member.id());
  return member.open_file(std::move(file), FileUse::loading);
}

}  // namespace fenix_impl
