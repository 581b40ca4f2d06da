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
#include "core/group.hpp"
#include "core/meeting.hpp"

namespace fenix_impl {
namespace {

// What a rank says at the start of a restore: its latest epoch, and whether it lacks some before it.
constexpr std::uint64_t kGaps = std::uint64_t{1} << 63;

std::string name_of(std::int32_t member_id) { return "member_id " + std::to_string(member_id); }

std::uint64_t hash_of(std::int32_t member_id, const SnapshotChoice& choice) {
  const std::array<std::int64_t, 3> same_on_all{member_id, static_cast<std::int64_t>(choice.kind), choice.time_stamp};
  return hash_bytes(std::as_bytes(std::span(same_on_all)));
}

}  // namespace

// ------------------------------------------------------------------------------------------------------------- records

const MemberVersion* Group::version_in(const Record& record, const Member& member) {
  const MemberVersion* version = record.find(member.info.id);
  return version != nullptr && version->stored_in > member.info.created_after ? version : nullptr;
}

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

// The same on all ranks.
Epoch Group::agree_on_epoch(const SnapshotChoice& choice, const std::vector<std::uint64_t>& notes) {
  std::uint64_t newest = ~kGaps;
  bool gaps = false;
  for (const std::uint64_t note : notes) {
    newest = std::min(newest, note & ~kGaps);
    gaps = gaps || (note & kGaps) != 0;
  }
  std::vector<Epoch> epochs;
  if (gaps) {
    auto mine = own_epochs();
    mine.resize(log_places());
    const auto all = team().gather(std::span<const CommittedEpoch>(mine));
    epochs = consistent_epochs(split_by_rank(all, log_places())).epochs;
  } else if (newest > 0) {
    const std::uint64_t kept = std::min<std::uint64_t>(kept_snapshots(), newest);
    for (std::uint64_t epoch = newest - kept + 1; epoch <= newest; ++epoch) epochs.push_back({epoch});
  }
  if (epochs.empty()) throw Error(FENIX_ERROR_NODATA_FOUND, "the group has no consistent snapshot");
  if (choice.kind != SnapshotChoice::Kind::at) return epochs.back();
  for (const Epoch epoch : epochs) {
    if (time_stamp_of(epoch) == choice.time_stamp) return epoch;
  }
  throw Error(FENIX_ERROR_INVALID_TIMESTAMP, "no snapshot has the time_stamp " + std::to_string(choice.time_stamp));
}

Epoch Group::own_epoch(const SnapshotChoice& choice) const {
  const PlacedRecord* latest = latest_record();
  if (latest == nullptr) throw Error(FENIX_ERROR_NODATA_FOUND, "the group has no snapshot");
  if (choice.kind != SnapshotChoice::Kind::at) return latest->record.epoch;
  for (const PlacedRecord& placed : records_) {
    if (placed.record.time_stamp == choice.time_stamp && !placed.record.deleted) return placed.record.epoch;
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
  if (verify(member.own_slot(version->slot), version->found, version->element_bytes, version->hash)) return *version;
  log().warn("group {} member {}: own copy is damaged, taking the one of rank {}", parameters_.id, member.info.id,
             holder());
  if (mend_own(member, *version)) return *version;
  throw Error(FENIX_ERROR_NODATA_FOUND, name_of(member.info.id) + " is damaged in all copies");
}

bool Group::mend_own(const Member& member, const MemberVersion& version) const {
  if (!is_protected()) return false;
  const SlotView slot = member.own_slot(version.slot);
  const std::size_t there = member.holder_layout.held_offset(version.slot);
  const std::uint64_t blocks = hash_blocks(version.bytes());
  member.exposure->get(holder(), there, slot.data.first(version.bytes()));
  member.exposure->get(holder(), there + member.holder_layout.held_table(),
                       std::as_writable_bytes(slot.table.first(blocks)));
  return verify(slot, version.found, version.element_bytes, version.hash);
}

bool Group::mend_held(const Member& member, const MemberVersion& version) const {
  const SlotView slot = member.held_slot(version.slot);
  const std::size_t there = member.owner_layout.own_offset(version.slot);
  const std::uint64_t blocks = hash_blocks(version.bytes());
  member.exposure->get(held(), there, slot.data.first(version.bytes()));
  member.exposure->get(held(), there + member.owner_layout.own_table(),
                       std::as_writable_bytes(slot.table.first(blocks)));
  return verify(slot, version.found, version.element_bytes, version.hash);
}

// ------------------------------------------------------------------------------------------------------------- restores

Found Group::restore(std::int32_t member_id, const SnapshotChoice& choice, const Target& target, const Check& check) {
  fault_point("restore.begin");
  Member* member = find(member_id);
  const auto notes = meet(team(), Operation::restore, hash_of(member_id, choice), epoch_note(), [&] {
    check();
    if (member == nullptr) throw Error(FENIX_ERROR_INVALID_MEMBERID, name_of(member_id) + " is not in the group");
  });
  fault_point("restore.met");
  const Epoch epoch = agree_on_epoch(choice, notes);

  const MemberVersion* version = nullptr;
  Found found;
  (void)meet(team(), Operation::restore_ready, 0, 0, [&] {
    version = &checked_version(*member, epoch);
    found = found_in(*version, choice, member->info.resizeable);
    check_room(found, target);
  });
  fault_point("restore.ready");
  write_to(target, *member, member->own_slot(version->slot).data, found.elements);
  fault_point("restore.done");
  return found;
}

Found Group::restore_own(Member& member, const SnapshotChoice& choice, const Target& target) {
  const MemberVersion& version = checked_version(member, own_epoch(choice));
  Found found = found_in(version, choice, member.info.resizeable);
  check_room(found, target);
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

// ---------------------------------------------------------------------------------------------------------------- repair

void Group::repair_member(std::int32_t member_id, const Check& check) {
  Member* member = find(member_id);
  (void)meet(team(), Operation::repair, static_cast<std::uint64_t>(member_id), 0, [&] {
    if (check) check();
    if (member == nullptr) throw Error(FENIX_ERROR_INVALID_MEMBERID, name_of(member_id) + " is not in the group");
  });
  wait_for_requests_of(*member);
  const auto lost = [&] { throw Error(FENIX_ERROR_NODATA_FOUND, name_of(member_id) + " is damaged in all copies"); };
  // Own copies first, on all ranks: then what peers hold for each other can be taken from their owners.
  (void)meet(team(), Operation::repaired, 0, 0, [&] {
    for (const PlacedRecord& placed : records_) {
      if (version_in(placed.record, *member) != nullptr) (void)checked_version(*member, placed.record.epoch);
    }
  });
  (void)meet(team(), Operation::repaired, 1, 0, [&] {
    if (!is_protected()) return;
    for (const PlacedRecord& placed : control_.held_log.read_all()) {
      const MemberVersion* version = version_in(placed.record, *member);
      // Records that are older than those kept are still there, their slots may not be.
      if (version == nullptr || placed.record.owner != held() || record_of(placed.record.epoch) == nullptr) continue;
      const SlotView slot = member->held_slot(version->slot);
      if (verify(slot, version->found, version->element_bytes, version->hash)) continue;
      log().warn("group {} member {}: the copy for rank {} is damaged, taking it anew", parameters_.id, member_id,
                 held());
      if (!mend_held(*member, *version)) lost();
    }
  });
}

}  // namespace fenix_impl
