// SPDX-License-Identifier: BSD-3-Clause
// Staging: elements on their way from the application into the slot of the snapshot under construction.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <utility>

#include "base/copy.hpp"
#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/probe.hpp"
#include "core/group.hpp"
#include "core/waiting.hpp"

namespace fenix_impl {
namespace {

// What the application gets for a member that has no elements on this rank.
std::byte no_elements{};

std::string name_of(const Member& member) { return "member_id " + std::to_string(member.info.id); }

std::uint64_t elements_begin(const IntervalSet& elements) {
  return elements.empty() ? 0 : elements.intervals().front().first;
}

IntervalSet blocks_of(const IntervalSet& elements, std::uint32_t element_bytes) {
  IntervalSet blocks;
  for (const Interval& each : elements.intervals()) {
    blocks.append({each.first * element_bytes / kHashBlock, hash_blocks(each.end * element_bytes)});
  }
  return blocks;
}

}  // namespace

// ------------------------------------------------------------------------------------------------------------- checks

IntervalSet Group::elements_of(const Member& member, const Selection& selection) const {
  switch (selection.kind) {
    case Selection::Kind::all:
      return {0, member.own_count};
    case Selection::Kind::staged:
      return member.working.staged;
    case Selection::Kind::some:
      break;
  }
  return selection.elements;
}

void Group::check_storable(const Member& member, const Selection& selection) const {
  if (selection.kind == Selection::Kind::staged) return;
  check_selection(member, selection, static_cast<bool>(member.serializer));
  if (!elements_of(member, selection).empty() && member.buffer == nullptr && !member.serializer) {
    throw Error(FENIX_ERROR_INVALID_ARGUMENT, name_of(member) + " has no source buffer");
  }
  // A small store takes no longer than the look would.
  constexpr std::uint64_t kWorthALook = std::uint64_t{1} << 20;
  const IntervalSet elements = elements_of(member, selection);
  const bool is_large = (elements.end() - elements_begin(elements)) * member.element_bytes() >= kWorthALook;
  if (!member.serializer && (is_large || !member.settled)) check_readable(member, elements);
}

void Group::check_readable(const Member& member, const IntervalSet& elements) {
  if (elements.empty() || !member.info.type->contiguous()) return;
  const std::uint64_t begin = elements_begin(elements) * member.element_bytes();
  const std::uint64_t end = elements.end() * member.element_bytes();
  if (can_read(static_cast<const std::byte*>(member.buffer) + begin, end - begin)) return;
  throw Error(FENIX_ERROR_INVALID_ARGUMENT, "the source buffer of " + name_of(member) + " cannot be read");
}

void Group::check_selection(const Member& member, const Selection& selection, bool has_serializer) const {
  if (selection.kind == Selection::Kind::all && member.info.resizeable && !has_serializer) {
    throw Error(FENIX_ERROR_INVALID_ARGUMENT,
                "subset_specifier is FENIX_DATA_SUBSET_FULL, but " + name_of(member) + " is FENIX_RESIZEABLE");
  }
  const IntervalSet elements = elements_of(member, selection);
  if (!member.info.resizeable && elements.end() > member.own_count) {
    throw Error(FENIX_ERROR_SUBSET_END_OFFSET, "subset_specifier goes up to element " +
                                                   std::to_string(elements.end() - 1) + ", but " + name_of(member) +
                                                   " has " + std::to_string(member.own_count));
  }
  constexpr std::uint64_t kAddressable = std::uint64_t{1} << 47;
  if (elements.end() > kAddressable / member.element_bytes()) {
    throw Error(FENIX_ERROR_SUBSET_END_OFFSET, "subset_specifier goes beyond what an address can express");
  }
  check_pieces(member, elements);
}

// The record of the next commit has to have room for the pieces of all members.
void Group::check_pieces(const Member& member, const IntervalSet& elements) const {
  constexpr std::size_t kFew = 64;
  if (elements.intervals().size() < kFew) return;
  std::size_t pieces = 0;
  for (const auto& each : members_) {
    const MemberVersion* base = latest_version(*each);
    IntervalSet found = each->working.stored | each->working.staged;
    if (base != nullptr) found = found | base->found;
    if (each.get() == &member) found = found | elements;
    pieces += found.intervals().size();
  }
  // Others may come to have as many as kFew without being looked at.
  if (record_bytes(members_.size(), pieces + kFew * members_.size()) > RecordLog::kPlaceBytes) {
    throw Error(FENIX_ERROR_SUBSET_NUM_BLOCKS,
                "subset_specifier would leave the members in more pieces than a record can describe");
  }
}

// -------------------------------------------------------------------------------------------------------------- slots

void Group::forget_old_records() {
  const Epoch on_all = known_on_all();
  std::size_t live = 0;
  bool newer = false;
  for (auto placed = records_.rbegin(); placed != records_.rend(); ++placed) {
    if (placed->record.epoch > on_all) continue;
    // That a snapshot was deleted has to be known as long as it is the newest one on all ranks.
    const bool old = placed->record.deleted ? newer : ++live > kept_snapshots();
    newer = true;
    if (old) placed->record.epoch = {};
  }
  for (PlacedRecord& placed : records_) {
    const bool has_room = spare_versions_.size() < spare_versions_.capacity();
    if (placed.record.epoch.none() && has_room) spare_versions_.push_back(std::move(placed.record.members));
  }
  std::erase_if(records_, [](const PlacedRecord& placed) { return placed.record.epoch.none(); });
  // The new communicator has data of its own.
  if (newer && archive_) archive_.reset();
}

std::optional<std::uint32_t> Group::free_slot_for(const Member& member) {
  forget_old_records();
  used_.clear();
  for (const PlacedRecord& placed : records_) {
    if (const MemberVersion* version = version_in(placed.record, member)) used_.push_back(version->slot);
  }
  return lowest_free(member.layout.slots(), used_);
}

// Finds out what all ranks have committed, also if nobody has told this one.
void Group::ask_others(int most_reads) {
  while (known_on_all() < last_ && control_.commits.ask(*control_.exposure, most_reads)) {
  }
}

// Ranks that are in the library pass on what they hear. Those that compute do not: their memory is asked after a while.
void Group::wait_for_others(const char* waited_for, const std::function<bool()>& ready) {
  constexpr std::chrono::milliseconds kBetweenQuestions{1};
  constexpr int kReadsAtOnce = 8;
  if (ready()) return;
  Deadline question(kBetweenQuestions);
  wait_until(team(), waited_for, [&] {
    control_.commits.pass_on(*control_.exposure);
    if (question.passed()) {
      // Then on again: those that wait for this rank hear of its progress between its questions.
      ask_others(kReadsAtOnce);
      question = Deadline(kBetweenQuestions);
    }
    return ready();
  });
}

bool Group::take_slot(Member& member) {
  if (!member.working.slot && keeps_all()) {
    member.working.slot = free_slot_for(member);
  } else if (!member.working.slot) {
    wait_for_others("all ranks to commit an earlier snapshot, before a slot is reused", [&] {
      member.working.slot = free_slot_for(member);
      return member.working.slot.has_value();
    });
  }
  return member.working.slot.has_value();
}

// ------------------------------------------------------------------------------------------------------------ staging

bool Group::has_room(const Member& member, const IntervalSet& elements) const {
  return member.working.spill.empty() && elements.end() * member.element_bytes() <= member.layout.own_bytes();
}

std::span<std::byte> Group::staging_memory(Member& member, std::uint64_t bytes) {
  Working& working = member.working;
  const bool has_slot = take_slot(member);
  if (has_slot && working.spill.empty() && bytes <= member.layout.own_bytes()) {
    return member.own_slot(*working.slot).data;
  }
  if (working.spill.size() < bytes) {
    const bool first = working.spill.empty();
    working.spill.resize(bytes);
    if (first && has_slot) {
      const auto slot = member.own_slot(*working.slot).data;
      const std::uint64_t staged = std::min<std::uint64_t>(working.staged.end() * member.element_bytes(), bytes);
      std::copy_n(slot.begin(), staged, working.spill.begin());
    }
  }
  return working.spill;
}

void Group::note_staged(Member& member, const IntervalSet& elements) const {
  Working& working = member.working;
  IntervalSet staged = working.staged | elements;
  IntervalSet encoded = working.encoded - elements;
  IntervalSet hashed = working.hashed - blocks_of(elements, member.element_bytes());
  if (working.slot) member.stale[*working.slot] = member.stale[*working.slot] | elements;
  // All or nothing: none of this takes memory.
  working.staged = std::move(staged);
  working.encoded = std::move(encoded);
  working.hashed = std::move(hashed);
}

IntervalSet Group::stage_elements(Member& member, const void* buffer, const IntervalSet& elements) {
  if (elements.empty()) return elements;
  const auto memory = staging_memory(member, elements.end() * member.element_bytes());
  // From here on the slot is not what it was, whatever happens to the copy.
  note_staged(member, elements);
  const std::uint32_t bytes = member.element_bytes();
  const Stores stores = worth_streaming(elements.count() * bytes) ? Stores::streaming : Stores::cached;
  for (const Interval& each : elements.intervals()) {
    if (buffer == memory.data()) break;  // they are there: staging_area()
    const auto to = memory.subspan(each.first * bytes, each.count() * bytes);
    if (member.info.type->contiguous()) {
      copy_bytes(to, {static_cast<const std::byte*>(buffer) + each.first * bytes, to.size()}, stores);
    } else {
      member.info.type->pack(buffer, each.first, each.count(), to.data());
    }
  }
  return elements;
}

std::unique_ptr<SlotFile> Group::staging_file(Member& member) {
  Working& working = member.working;
  const bool has_slot = take_slot(member);
  const std::span<std::byte> memory = has_slot ? member.own_slot(*working.slot).data : std::span<std::byte>{};
  const std::uint64_t staged = working.staged.end() * member.element_bytes();
  const std::uint64_t limit =
      member.info.resizeable ? IntervalSet::kEndless : member.own_count * member.element_bytes();
  working.draft.reset();
  if (!working.untouched()) {
    const std::span<const std::byte> there = working.spill.empty() ? memory : std::span(working.spill);
    auto& draft = working.draft.emplace(there.begin(), there.begin() + static_cast<std::ptrdiff_t>(staged));
    return std::make_unique<SlotFile>(std::span<std::byte>{}, staged, draft, limit);
  }
  if (has_slot) member.stale[*working.slot] = IntervalSet::everything();
  return std::make_unique<SlotFile>(memory, staged, working.spill, limit);
}

// The file is as it should be: what it has takes its place.
void Group::take_draft(Member& member, const IntervalSet& elements) {
  if (!member.working.draft) return;
  std::vector<std::byte> draft = std::move(*member.working.draft);
  member.working.draft.reset();
  if (elements.empty()) return;
  const std::uint32_t bytes = member.element_bytes();
  draft.resize(std::max<std::uint64_t>(draft.size(), elements.end() * bytes));
  const auto memory = staging_memory(member, elements.end() * bytes);
  for (const Interval& each : elements.intervals()) {
    std::memcpy(memory.data() + each.first * bytes, draft.data() + each.first * bytes, each.count() * bytes);
  }
}

IntervalSet Group::stage_with_serializer(Member& member, const Selection& selection) {
  const std::uint32_t bytes = member.element_bytes();
  auto* buffer = const_cast<void*>(member.buffer);  // a serializer writes to it only when it loads
  const auto file = staging_file(member);
  std::vector<Interval> written;
  const auto serialize = [&](std::uint64_t first, std::uint64_t count) {
    file->seek(first * bytes);
    member.serializer(file->file(), FENIX_SERIALIZE, buffer, first, count);
    const std::uint64_t elements = (file->position() - std::min(file->position(), first * bytes)) / bytes;
    written.push_back({first, first + (count > 0 ? std::min(elements, count) : elements)});
  };
  if (selection.kind == Selection::Kind::all && member.info.resizeable) {
    serialize(0, 0);
  } else {
    const IntervalSet elements = elements_of(member, selection);
    for (const Interval& each : elements.intervals()) serialize(each.first, each.count());
  }
  if (!file->close()) {
    throw Error(FENIX_ERROR_INVALID_ARGUMENT, "the serializer of " + name_of(member) + " wrote beyond the member");
  }
  IntervalSet elements = IntervalSet::of(std::move(written));
  take_draft(member, elements);
  note_staged(member, elements);
  return elements;
}

void Group::stage(Member& member, const Selection& selection) {
  fault_point("stage.begin");
  check_storable(member, selection);
  wait_for_requests_of(member);
  if (member.serializer) {
    (void)stage_with_serializer(member, selection);
  } else {
    (void)stage_elements(member, member.buffer, elements_of(member, selection));
  }
  fault_point("stage.done");
}

void Group::stage_from(Member& member, const void* buffer, const Selection& selection) {
  check_selection(member, selection, /*has_serializer=*/false);
  const IntervalSet elements = elements_of(member, selection);
  wait_for_requests_of(member);
  if (is_staging_area(member, buffer) && !elements.empty()) check_staging_area(member, elements);
  (void)stage_elements(member, buffer, elements);
}

std::span<std::byte> Group::staging_area(Member& member) {
  if (member.info.resizeable || !member.info.type->contiguous()) {
    throw Error(FENIX_ERROR_INVALID_ARGUMENT, name_of(member) + " is FENIX_RESIZEABLE, or its datatype has holes");
  }
  wait_for_requests_of(member);
  const std::uint64_t bytes = member.own_count * member.element_bytes();
  const auto memory = staging_memory(member, bytes).first(bytes);
  Working& working = member.working;
  // The application may write anywhere from now on, and does not say where.
  working.is_lent = true;
  working.hashed = {};
  working.encoded = {};
  if (working.slot) member.stale[*working.slot] = IntervalSet::everything();
  return memory.empty() ? std::span(&no_elements, 0) : memory;
}

bool Group::is_staging_area(const Member& member, const void* buffer) {
  const Working& working = member.working;
  const auto* start = static_cast<const std::byte*>(buffer);
  if (start == &no_elements || (working.is_lent && !working.spill.empty() && start == working.spill.data()))
    return true;
  const auto region = member.region.bytes();
  const bool inside =
      std::greater_equal<>()(start, region.data()) && std::less<>()(start, region.data() + region.size());
  if (!inside) return false;
  if (working.is_lent && working.spill.empty() && start == member.own_slot(*working.slot).data.data()) return true;
  throw Error(FENIX_ERROR_INVALID_ARGUMENT, "buf is memory of " + name_of(member) + ", but not of this snapshot");
}

// COUNT or DATATYPE may have been set meanwhile.
void Group::check_staging_area(const Member& member, const IntervalSet& elements) const {
  const std::uint64_t room = member.working.spill.empty() ? member.layout.own_bytes() : member.working.spill.size();
  if (elements.end() * member.element_bytes() <= room) return;
  throw Error(FENIX_ERROR_INVALID_ARGUMENT, "buf was given out before the count of " + name_of(member) + " was set");
}

// Elements that had no room are put where they belong. There is room now.
void Group::unspill(Member& member) {
  Working& working = member.working;
  if (working.spill.empty()) return;
  (void)take_slot(member);
  note_staged(member, working.staged);
  const auto slot = member.own_slot(*working.slot).data;
  const std::uint32_t bytes = member.element_bytes();
  for (const Interval& each : working.staged.intervals()) {
    std::memcpy(slot.data() + each.first * bytes, working.spill.data() + each.first * bytes, each.count() * bytes);
  }
  std::vector<std::byte>().swap(working.spill);
}

std::FILE* Group::open_to_stage(Member& member) {
  wait_for_requests_of(member);
  member.file = staging_file(member);
  member.file_is_loading = false;
  return member.file->file();
}

void Group::close_staged(Member& member) {
  const auto file = std::move(member.file);
  const std::uint32_t bytes = member.element_bytes();
  if (!file->close())
    throw Error(FENIX_ERROR_INVALID_ARGUMENT, "a write to the file of " + name_of(member) + " failed");
  if (file->written() % bytes != 0) {
    throw Error(FENIX_ERROR_INVALID_ARGUMENT, "the file of " + name_of(member) + " got " +
                                                  std::to_string(file->written()) +
                                                  " bytes, which are not whole elements");
  }
  const IntervalSet elements(0, file->written() / bytes);
  take_draft(member, elements);
  note_staged(member, elements);
}

}  // namespace fenix_impl
