// SPDX-License-Identifier: BSD-3-Clause
#include "core/parity_protection.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "core/mending.hpp"

namespace fenix_impl {
namespace {

// So much of a parity is computed before the next part is looked at.
constexpr std::size_t kPiece = std::size_t{1} << 20;

const MemberVersion* find(const Record& announcement, const Change& change) {
  return announcement.find(change.member->info.id);
}

IntervalSet in_bytes(const IntervalSet& elements, std::uint32_t element_bytes, std::uint64_t end) {
  IntervalSet bytes;
  const IntervalSet there = elements.within(0, end / element_bytes);
  for (const Interval& each : there.intervals()) {
    bytes.append({each.first * element_bytes, each.end * element_bytes});
  }
  return bytes;
}

/// What a rank tells its cohort. It has the form of a record: of each member, the elements that have changed, and in stored_in
/// the commit after which the slot was not touched.
Record announcement_of(const Surroundings& group, std::uint64_t number, std::span<const Change> changes) {
  Record record;
  record.epoch = {number};
  record.group_id = group.parameters.id;
  record.owner = group.rank;
  for (const Change& change : changes) {
    const Member& member = *change.member;
    const std::uint32_t slot = *member.working.slot;
    record.members.push_back(
        {member.info.id, slot, member.element_bytes(), 0, member.slot_epochs[slot].next(), 0, change.elements});
  }
  if (record_bytes(record) <= RecordLog::kPlaceBytes) return record;
  for (MemberVersion& each : record.members) each.found = IntervalSet(0, each.found.end());
  return record;
}

}  // namespace

ParityProtection::ParityProtection(const Surroundings& surroundings)
    : Protection(surroundings),
      cohort_(group_.placement.cohort(group_.rank)),
      place_(group_.placement.place_in_cohort(group_.rank)),
      parity_(group_.placement.copies()),
      encoder_(static_cast<int>(cohort_.size()), parity_, std::vector<bool>(cohort_.size(), true)) {}

// --------------------------------------------------------------------------------------------------------------- layout

std::uint64_t ParityProtection::most_bytes(const Member& member, std::span<const std::uint64_t> counts) const {
  std::uint64_t most = 0;
  for (const int rank : cohort_) most = std::max(most, counts[static_cast<std::size_t>(rank)]);
  return most * member.element_bytes();
}

Stripes ParityProtection::stripes_of(const Member& member, std::span<const std::uint64_t> counts) const {
  const std::uint64_t unit = Stripes::unit_for(most_bytes(member, counts), ranks() - parity_, member.info.resizeable);
  return {ranks(), parity_, unit};
}

std::uint64_t ParityProtection::held_bytes(const Member& member, std::span<const std::uint64_t> counts) const {
  return stripes_of(member, counts).parity_bytes(most_bytes(member, counts));
}

CohortSlot ParityProtection::slot_of(const Member& member, int rank, std::uint32_t slot) const {
  const SlotLayout& layout = member.layout_of(rank);
  if (slot >= layout.slots() || member.bytes_of(rank) > layout.own_bytes()) return {};
  return {rank, layout.own_offset(slot), member.bytes_of(rank), layout.held_offset(slot)};
}

// ------------------------------------------------------------------------------------------------------------- encoding

void ParityProtection::announce(const Record& announcement, const Wait& wait) {
  Control& control = group_.control;
  // Others may still be reading the announcement before.
  wait("the cohort to encode what was stored before",
       [&] { return control.finished.reached_by_first(ranks()).value + 1 >= announcements_; });
  control.region.reserve(control.announcement.offset(0), record_bytes(announcement));
  (void)control.announcement.write_unsealed(0, announcement);
  control.announcement.seal(0, announcement.epoch);
  fault_point("encode.announced");
  control.announced.publish(*control.exposure, cohort_, place_, {announcements_});
  wait("the cohort to store", [&] { return control.announced.reached_by_first(ranks()).value >= announcements_; });
  fault_point("encode.met");
}

std::vector<Record> ParityProtection::read_announcements() {
  const Control& control = group_.control;
  std::vector<Record> records;
  for (const int rank : cohort_) {
    const auto bytes = fetch_record(*control.exposure, rank, control.announcement.offset(0));
    auto record = bytes ? decode(*bytes) : std::nullopt;
    if (!record || record->epoch.value != announcements_ || record->owner != rank) {
      throw Error(FENIX_ERROR_INTERN, "the announcement of rank " + std::to_string(rank) + " cannot be read");
    }
    records.push_back(std::move(*record));
  }
  return records;
}

void ParityProtection::finish(const Wait& wait) {
  Control& control = group_.control;
  control.finished.publish(*control.exposure, cohort_, place_, {announcements_});
  fault_point("encode.done");
  // Who leaves for work of its own could hold up reads of its memory that its core has to carry out.
  if (!group_.path.puts_are_copies()) {
    wait("the cohort to encode", [&] { return control.finished.reached_by_first(ranks()).value >= announcements_; });
  }
}

void ParityProtection::encode(std::span<const Change> changes, const Wait& wait) {
  if (parity_ == 0) return;
  ++announcements_;
  announce(announcement_of(group_, announcements_, changes), wait);
  const auto announcements = read_announcements();
  for (std::size_t i = 0; i < announcements.size(); ++i) {
    const Record& other = announcements[i];
    const std::string who = "rank " + std::to_string(cohort_[i]);
    const bool same =
        other.members.size() == changes.size() &&
        std::all_of(changes.begin(), changes.end(), [&](const Change& each) { return find(other, each) != nullptr; });
    if (!same || other.deleted) finish(wait);
    if (other.deleted) throw Error(FENIX_ERROR_INVALID_LOGIC_CALL, who + " cannot commit");
    if (!same) throw Error(FENIX_ERROR_MISMATCH, who + " has stored other members than this one");
  }
  for (const Change& change : changes) encode_member(change, announcements);
  finish(wait);
}

void ParityProtection::decline(const Wait& wait) {
  if (parity_ == 0) return;
  ++announcements_;
  Record record = announcement_of(group_, announcements_, {});
  record.deleted = true;
  announce(record, wait);
  finish(wait);
}

void ParityProtection::encode_member(const Change& change, const std::vector<Record>& announcements) {
  Member& member = *change.member;
  const std::uint32_t own = *member.working.slot;
  const Stripes stripes = stripes_of(member, member.counts);
  const std::uint64_t all = stripes.parity_bytes(most_bytes(member, member.counts));
  std::vector<CohortSlot> slots;
  IntervalSet ranges;
  bool all_known = !member.slot_epochs[own].none();
  for (std::size_t i = 0; i < announcements.size(); ++i) {
    const MemberVersion& version = *find(announcements[i], change);
    slots.push_back(slot_of(member, cohort_[i], version.slot));
    if (slots.back().rank == CohortSlot::kMissing) {
      throw Error(FENIX_ERROR_INTERN, "rank " + std::to_string(cohort_[i]) + " announces a slot that it does not have");
    }
    // The parity in the own slot is of what the others had in theirs at the same commit; else all of it is made anew.
    all_known = all_known && version.stored_in == member.slot_epochs[own].next();
    if (!all_known) continue;
    const auto changed = in_bytes(version.found, member.element_bytes(), slots.back().element_bytes);
    ranges = ranges | stripes.parity_of(place_, static_cast<int>(i), changed);
  }
  if (!all_known) ranges = IntervalSet(0, all);
  CohortSlots cohort(*member.exposure, stripes, std::move(slots));
  const auto parity = member.held_slot(own).data;
  const Stores stores = worth_streaming(ranges.count()) ? Stores::streaming : Stores::cached;
  ranges = ranges.within(0, all);
  for (const Interval& each : ranges.intervals()) {
    for (std::uint64_t begin = each.first; begin < each.end; begin += kPiece) {
      const auto bytes = std::min<std::uint64_t>(kPiece, each.end - begin);
      cohort.compute(encoder_, place_, true, begin, parity.subspan(begin, bytes), stores);
      fault_point("encode.piece");
    }
  }
}

// ------------------------------------------------------------------------------------------------------------- decoding

CohortSlots ParityProtection::slots_in(Member& member, Epoch epoch, const std::vector<bool>& present) const {
  std::vector<CohortSlot> slots(cohort_.size());
  for (std::size_t i = 0; i < cohort_.size(); ++i) {
    const int rank = cohort_[i];
    if (rank == group_.rank || !present[static_cast<std::size_t>(rank)]) continue;
    const auto record = find_record(*group_.control.exposure, rank, group_.control.own_log, epoch);
    const MemberVersion* version = record ? version_in(*record, member) : nullptr;
    if (version != nullptr) slots[i] = slot_of(member, rank, version->slot);
  }
  return {*member.exposure, stripes_of(member, member.counts), std::move(slots)};
}

// With all that is there, and then without each of the others: one may be damaged as well.
bool ParityProtection::try_ways(const std::vector<bool>& available, const std::function<bool(Codec&)>& attempt) const {
  constexpr std::size_t kNobody = ~std::size_t{0};
  for (std::size_t left_out = kNobody; left_out == kNobody || left_out < available.size(); ++left_out) {
    if (left_out != kNobody && !available[left_out]) continue;
    auto used = available;
    if (left_out != kNobody) used[left_out] = false;
    Codec codec(ranks(), parity_, std::move(used));
    if (codec.suffices() && attempt(codec)) return true;
  }
  return false;
}

bool ParityProtection::decode_all(Member& member, const MemberVersion& version, CohortSlots& slots,
                                  Codec& codec) const {
  const SlotView slot = member.own_slot(version.slot);
  // All of the slot, not only what has a value: it went into the parity of the others.
  slots.compute(codec, place_, false, 0, slot.data.first(member.bytes_of(group_.rank)), Stores::cached);
  const auto data = slot.data.first(version.bytes());
  for (std::uint64_t block = 0; block < hash_blocks(data.size()); ++block) {
    slot.table[block] = hash_of_block(data, block, version.found, version.element_bytes);
  }
  return group_.parameters.hashing == 0 || hash_of_table(slot.table, data.size()) == version.hash;
}

bool ParityProtection::mend_own(Member& member, const MemberVersion& version, Epoch epoch,
                                const std::vector<bool>& present) {
  if (version.slot >= member.layout.slots() || version.bytes() > member.bytes_of(group_.rank)) return false;
  auto slots = slots_in(member, epoch, present);
  const bool hashed = group_.parameters.hashing != 0;
  if (hashed && present[static_cast<std::size_t>(group_.rank)]) {
    return mend_slot(member.own_slot(version.slot), version, [&](const std::function<bool(const Reader&)>& attempt) {
      return try_ways(slots.available(), [&](Codec& codec) {
        return attempt([&](std::uint64_t begin, std::span<std::byte> part) {
          slots.compute(codec, place_, false, begin, part, Stores::cached);
        });
      });
    });
  }
  // Made anew for another snapshot that has the same version. One without a value has a hash that says nothing.
  if (hashed && version.bytes() > 0 && verify_own(member, version)) return true;
  return try_ways(slots.available(), [&](Codec& codec) { return decode_all(member, version, slots, codec); });
}

bool ParityProtection::mend_held(Member& member, const MemberVersion& version, Epoch epoch,
                                 const std::vector<bool>& present) {
  if (version.slot >= member.layout.slots()) return false;
  auto slots = slots_in(member, epoch, present);
  Codec codec(ranks(), parity_, slots.available());
  if (!codec.suffices()) return false;
  const std::uint64_t bytes = held_bytes(member, member.counts);
  slots.compute(codec, place_, true, 0, member.held_slot(version.slot).data.first(bytes), Stores::cached);
  return true;
}

bool ParityProtection::held_is_sound(Member& member, const MemberVersion& version, Epoch epoch) {
  if (parity_ == 0) return true;
  auto slots = slots_in(member, epoch, std::vector<bool>(member.counts.size(), true));
  Codec codec(ranks(), parity_, slots.available());
  if (!codec.suffices()) return false;
  const auto parity = member.held_slot(version.slot).data.first(held_bytes(member, member.counts));
  std::vector<std::byte> expected(std::min(kPiece, parity.size()));
  for (std::size_t begin = 0; begin < parity.size(); begin += kPiece) {
    const auto piece = std::span(expected).first(std::min(kPiece, parity.size() - begin));
    slots.compute(codec, place_, true, begin, piece, Stores::cached);
    if (std::memcmp(piece.data(), parity.data() + begin, piece.size()) != 0) return false;
  }
  return true;
}

}  // namespace fenix_impl
