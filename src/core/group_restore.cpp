// SPDX-License-Identifier: BSD-3-Clause
// Restore: first all ranks make sure that they can, then each copies.
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/hash.hpp"
#include "base/log.hpp"
#include "base/probe.hpp"
#include "core/group.hpp"
#include "core/meeting.hpp"

namespace fenix_impl {
namespace {

// What a rank says at the start of a restore: its latest epoch, and whether it lacks some before it.
constexpr std::uint64_t kGaps = std::uint64_t{1} << 63;

std::string name_of(std::int32_t member_id) { return "member_id " + std::to_string(member_id); }

}  // namespace

// ------------------------------------------------------------------------------------------------------------- records

const PlacedRecord* Group::latest_record() const {
  const auto found =
      std::find_if(records_.rbegin(), records_.rend(), [](const PlacedRecord& each) { return !each.record.deleted; });
  return found == records_.rend() ? nullptr : &*found;
}

const PlacedRecord* Group::record_of(Epoch epoch) const {
  const auto found = std::find_if(records_.begin(), records_.end(), [&](const PlacedRecord& each) {
    return each.record.epoch == epoch && !each.record.deleted;
  });
  return found == records_.end() ? nullptr : &*found;
}

const MemberVersion* Group::latest_version(const Member& member) const {
  const PlacedRecord* latest = latest_record();
  return latest != nullptr ? version_in(latest->record, member) : nullptr;
}

bool Group::has_gaps() const {
  if (records_.empty() || records_.back().record.epoch != last_) return !last_.none();
  Epoch epoch = records_.front().record.epoch;
  for (const PlacedRecord& placed : records_) {
    if (placed.record.deleted || placed.record.epoch != epoch) return true;
    epoch = epoch.next();
  }
  return false;
}

// ------------------------------------------------------------------------------------------------------------ snapshots

std::uint64_t Group::epoch_note() const { return last_.value | (has_gaps() ? kGaps : 0); }

// Without redundancy, a rank that has lost all takes nothing from the others.
ConsistentEpochs Group::consistent_now() {
  return common_to_all(team(), has_lost_data_ ? CommonEpochs() : CommonEpochs(own_epochs())).consistent();
}

// The same on all ranks.
Epoch Group::agree_on_epoch(const SnapshotChoice& choice, const MeetingValues& notes) {
  const std::uint64_t newest = notes.least;  // if nobody has gaps
  std::vector<Epoch> epochs;
  if ((notes.bits & kGaps) != 0) {
    epochs = consistent_now().epochs;
  } else if (newest > 0) {
    const std::uint64_t kept = std::min<std::uint64_t>(kept_snapshots(), newest);
    for (std::uint64_t epoch = newest - kept + 1; epoch <= newest; ++epoch) epochs.push_back({epoch});
  }
  return chosen(choice, epochs);
}

Epoch Group::own_epoch(const SnapshotChoice& choice) const {
  std::vector<Epoch> epochs;
  for (const PlacedRecord& placed : records_) {
    if (!placed.record.deleted) epochs.push_back(placed.record.epoch);
  }
  return chosen(choice, epochs);
}

Epoch Group::chosen(const SnapshotChoice& choice, std::span<const Epoch> epochs) const {
  if (epochs.empty()) throw Error(FENIX_ERROR_NODATA_FOUND, "the group has no consistent snapshot");
  if (choice.kind != SnapshotChoice::Kind::at) return epochs.back();
  for (const Epoch epoch : epochs) {
    if (time_stamp_of(epoch) == choice.time_stamp) return epoch;
  }
  throw Error(FENIX_ERROR_INVALID_TIMESTAMP, "no snapshot has the time_stamp " + std::to_string(choice.time_stamp));
}

Found Group::found_in(const MemberVersion& version, const SnapshotChoice& choice, bool resizeable) {
  const bool beyond = resizeable && choice.kind == SnapshotChoice::Kind::all;
  Found found;
  found.elements = beyond ? version.found : version.found.within(0, version.size);
  found.partial = !found.elements.covers(0, version.size);
  return found;
}

void Group::check_room(const Found& found, const Target& target) const {
  if (target.buffer == nullptr || found.elements.end() <= target.room) return;
  throw Error(FENIX_ERROR_BUFFER_TOO_SMALL, "max_count " + std::to_string(target.room) + " is less than the " +
                                                std::to_string(found.elements.end()) + " elements found");
}

// In the meeting: else the ranks that can write would.
void Group::check_writable(const Found& found, const Target& target, const Member& member) {
  if (target.buffer == nullptr || found.elements.empty() || member.serializer || !member.info.type->contiguous())
    return;
  const std::uint64_t begin = found.elements.intervals().front().first * member.element_bytes();
  const std::uint64_t end = found.elements.end() * member.element_bytes();
  if (can_write(static_cast<std::byte*>(target.buffer) + begin, end - begin)) return;
  throw Error(FENIX_ERROR_INVALID_ARGUMENT, "target_buffer of " + name_of(member.info.id) + " cannot be written");
}

void Group::write_to(const Target& target, const Member& member, std::span<const std::byte> slot,
                     const IntervalSet& elements) const {
  const bool wanted = target.buffer != nullptr || (target.in_place && member.serializer);
  if (!wanted || elements.empty()) return;
  const std::uint32_t bytes = member.element_bytes();
  if (!member.serializer) {
    for (const Interval& each : elements.intervals()) {
      member.info.type->unpack(slot.data() + each.first * bytes, each.first, each.count(), target.buffer);
    }
    return;
  }
  SlotFile file(slot);
  for (const Interval& each : elements.intervals()) {
    file.seek(each.first * bytes);
    std::clearerr(file.file());
    member.serializer(file.file(), FENIX_DESERIALIZE, target.buffer, each.first, each.count());
  }
}

// -------------------------------------------------------------------------------------------------------------- copies

const MemberVersion& Group::checked_version(Member& member, Epoch epoch) {
  const PlacedRecord* placed = record_of(epoch);
  if (placed == nullptr) {
    throw Error(FENIX_ERROR_INVALID_TIMESTAMP,
                "the snapshot with the time_stamp " + std::to_string(time_stamp_of(epoch)) + " is gone");
  }
  const MemberVersion* version = version_in(placed->record, member);
  if (version == nullptr) throw Error(FENIX_ERROR_NODATA_FOUND, name_of(member.info.id) + " is not in the snapshot");
  if (own_is_sound(parameters_, member, *version)) return *version;
  log().warn("group {} member {}: the data of this rank is damaged, making it anew", parameters_.id, member.info.id);
  if (protection_->mend_own(member, *version, epoch)) return *version;
  throw Error(FENIX_ERROR_NODATA_FOUND, name_of(member.info.id) + " is damaged beyond repair");
}

// ------------------------------------------------------------------------------------------------------------- restores

std::uint64_t Group::hash_of(std::int32_t member_id, const SnapshotChoice& choice) {
  const std::array<std::int64_t, 3> same_on_all{member_id, static_cast<std::int64_t>(choice.kind), choice.time_stamp};
  return hash_bytes(std::as_bytes(std::span(same_on_all)));
}

Found Group::restore(std::int32_t member_id, const SnapshotChoice& choice, const Target& target, const Check& check) {
  fault_point("restore.begin");
  Member* member = find(member_id);
  const MemberVersion* version = nullptr;
  Found found;
  together(team(), [&] { version = &agree_to_restore(member_id, choice, target, check, found); });
  fault_point("restore.ready");
  alone([&] { write_to(target, *member, member->own_slot(version->slot).data, found.elements); });
  fault_point("restore.done");
  return found;
}

const MemberVersion& Group::agree_to_restore(std::int32_t member_id, const SnapshotChoice& choice, const Target& target,
                                             const Check& check, Found& found) {
  Member* member = find(member_id);
  const auto notes = meet(team(), Operation::restore, hash_of(member_id, choice), epoch_note(), [&] {
    (void)mend_own_records();
    check();
    if (member == nullptr) throw Error(FENIX_ERROR_INVALID_MEMBERID, name_of(member_id) + " is not in the group");
  });
  fault_point("restore.met");
  const Epoch epoch = agree_on_epoch(choice, notes);

  const MemberVersion* version = nullptr;
  std::optional<Error> lost;
  (void)meet(team(), Operation::restore_ready, 0, 0, [&] {
    // Without redundancy, what a dead rank had is gone, and the others go on.
    if (has_lost_data_) {
      lost = Error(FENIX_ERROR_NODATA_FOUND, "the snapshot was lost with the rank whose place this one has taken");
      return;
    }
    version = &checked_version(*member, epoch);
    found = found_in(*version, choice, member->info.resizeable);
    check_room(found, target);
    check_writable(found, target, *member);
  });
  if (lost) throw Error(*lost);
  return *version;
}

Found Group::restore_own(Member& member, const SnapshotChoice& choice, const Target& target) {
  const MemberVersion& version = checked_version(member, own_epoch(choice));
  Found found = found_in(version, choice, member.info.resizeable);
  check_room(found, target);
  check_writable(found, target, member);
  write_to(target, member, member.own_slot(version.slot).data, found.elements);
  return found;
}

std::FILE* Group::open_to_load(Member& member, const SnapshotChoice& choice, Found& found) {
  const MemberVersion& version = checked_version(member, own_epoch(choice));
  found = found_in(version, choice, member.info.resizeable);
  const std::uint64_t bytes = found.elements.end() * member.element_bytes();
  member.file = std::make_unique<SlotFile>(member.own_slot(version.slot).data.first(bytes));
  member.file_is_loading = true;
  return member.file->file();
}

void Group::close_loaded(Member& member) { member.file.reset(); }

}  // namespace fenix_impl
