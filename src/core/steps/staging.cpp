// SPDX-License-Identifier: BSD-3-Clause
#include "core/steps/staging.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/probe.hpp"
#include "base/simd/copy.hpp"
#include "core/member/snapshot_reader.hpp"

namespace fenix_impl {
namespace {

// The area that the application gets for a member that has no elements on this rank.
std::byte no_elements{};

std::uint64_t elements_begin(const IntervalSet& elements) {
  return elements.empty() ? 0 : elements.intervals().front().first;
}

void check_readable(const Member& member, const IntervalSet& elements) {
  if (elements.empty() || !member.info().type->contiguous()) return;
  const std::uint64_t begin = elements_begin(elements) * member.element_bytes();
  const std::uint64_t end = elements.end() * member.element_bytes();
  if (can_read(static_cast<const std::byte*>(member.buffer()) + begin, end - begin)) return;
  throw Error(FENIX_ERROR_INVALID_ARGUMENT, "the source buffer of " + name_of(member) + " cannot be read");
}

// Checks again: COUNT or DATATYPE may have been set in the meantime.
void check_staging_area(const Member& member, const IntervalSet& elements) {
  const std::uint64_t room =
      member.working().spill().empty() ? member.memory.layout().own_bytes() : member.working().spill().size();
  if (elements.end() * member.element_bytes() <= room) return;
  throw Error(FENIX_ERROR_INVALID_ARGUMENT, "buf was given out before the count of " + name_of(member) + " was set");
}

// Returns the number of pieces that a member will be in after the next commit, if no piece joins another one.
std::size_t pieces_at_most(const CommitLog& log, const Member& member, const IntervalSet& more) {
  const WorkingSlot& working = member.working();
  const MemberVersion* base = latest_version(log, member);
  const std::size_t found = base != nullptr ? base->found.intervals().size() : 0;
  return found + working.stored().intervals().size() + working.staged().intervals().size() + more.intervals().size();
}

std::size_t pieces_exactly(const CommitLog& log, const Member& member, const IntervalSet& more) {
  const MemberVersion* base = latest_version(log, member);
  IntervalSet found = member.working().stored() | member.working().staged() | more;
  if (base != nullptr) found = found | base->found;
  return found.intervals().size();
}

// In place, stored elements are in buffers of the application. From here on the spill has them, as a slot would.
void take_from_buffers(const MemberAccess& access, std::span<std::byte> spill) {
  WorkingSlot& working = access.slot();
  const Member& member = access.member();
  IntervalSet taken;
  for (const StoredFrom& source : working.sources()) {
    if (source.buffer == nullptr) continue;
    const IntervalSet elements = source.elements - working.staged();
    for (const Interval& each : elements.intervals()) {
      member.info().type->pack(source.buffer, each.first, each.count(),
                               spill.data() + each.first * member.element_bytes());
    }
    taken = taken | elements;
  }
  if (taken.empty()) return;
  WorkingSlot::Stored stored = working.once_stored_from(nullptr, taken, {});
  working.swap(stored);
}

}  // namespace

// ------------------------------------------------------------------------------------------------------------- checks

IntervalSet elements_of(const Member& member, const Selection& selection) {
  switch (selection.kind) {
    case Selection::Kind::all:
      return {0, member.own_count()};
    case Selection::Kind::staged:
      return member.working().staged();
    case Selection::Kind::some:
      break;
  }
  // A subset without an end ends with the member.
  constexpr auto kNoEnd = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (selection.elements.end() > kNoEnd && !member.may_be_resizeable()) {
    return selection.elements.within(0, member.own_count());
  }
  return selection.elements;
}

void Staging::check_storable(const Member& member, const Selection& selection) const {
  if (selection.kind == Selection::Kind::staged) return;
  check_selection(member, selection, static_cast<bool>(member.serializer()));
  if (!elements_of(member, selection).empty() && member.buffer() == nullptr && !member.serializer()) {
    throw Error(FENIX_ERROR_INVALID_ARGUMENT, name_of(member) + " has no source buffer");
  }
  // A small store takes no longer than the look would.
  constexpr std::uint64_t kWorthALook = std::uint64_t{1} << 20;
  const IntervalSet elements = elements_of(member, selection);
  const bool is_large = (elements.end() - elements_begin(elements)) * member.element_bytes() >= kWorthALook;
  if (!member.serializer() && (is_large || !member.sizes_agreed())) check_readable(member, elements);
}

void Staging::check_selection(const Member& member, const Selection& selection, bool has_serializer) const {
  if (selection.kind == Selection::Kind::all && member.is_resizeable() && !has_serializer) {
    throw Error(FENIX_ERROR_INVALID_ARGUMENT,
                "subset_specifier is FENIX_DATA_SUBSET_FULL, but " + name_of(member) + " is FENIX_RESIZEABLE");
  }
  const IntervalSet elements = elements_of(member, selection);
  if (!member.may_be_resizeable() && elements.end() > member.own_count()) {
    throw Error(FENIX_ERROR_SUBSET_END_OFFSET, "subset_specifier goes up to element " +
                                                   std::to_string(elements.end() - 1) + ", but " + name_of(member) +
                                                   " has " + std::to_string(member.own_count()));
  }
  constexpr std::uint64_t kAddressable = std::uint64_t{1} << 47;
  if (elements.end() > kAddressable / member.element_bytes()) {
    throw Error(FENIX_ERROR_SUBSET_END_OFFSET, "subset_specifier goes beyond what an address can express");
  }
  // A whole member is one piece.
  if (selection.kind == Selection::Kind::some) check_pieces(member, elements);
}

// Checks that the record of the next commit has room for the pieces of all members. Many small stores may add up to them.
void Staging::check_pieces(const Member& member, const IntervalSet& elements) const {
  constexpr std::size_t kFew = 64;
  if (pieces_at_most(context_.log, member, elements) < kFew) return;
  // Other members may get up to kFew pieces without this check.
  const auto fits = [&](const auto& pieces_of) {
    std::size_t pieces = kFew * context_.members.size();
    for (const auto& each : context_.members) {
      pieces += pieces_of(context_.log, *each, each.get() == &member ? elements : IntervalSet{});
    }
    return record_bytes(context_.members.size(), pieces) <= context_.log.memory().entry_bytes();
  };
  // To count them exactly takes as long as a store.
  if (fits(pieces_at_most) || fits(pieces_exactly)) return;
  throw Error(FENIX_ERROR_SUBSET_NUM_BLOCKS,
              "subset_specifier would leave the members in more pieces than a record can describe");
}

// ------------------------------------------------------------------------------------------------------------ staging

bool Staging::has_room(const Member& member, const IntervalSet& elements) {
  return member.working().spill().empty() &&
         elements.end() * member.element_bytes() <= member.memory.layout().own_bytes();
}

// In place, the own slot has the latest snapshot: there is none to stage in.
bool Staging::takes_slot(const MemberAccess& access) const {
  return !context_.parameters.commits_in_place() && context_.reclaimer.take_slot(access);
}

std::span<std::byte> Staging::staging_memory(const MemberAccess& access, std::uint64_t bytes) {
  WorkingSlot& working = access.slot();
  const Member& member = access.member();
  const bool has_slot = takes_slot(access);
  if (has_slot && working.spill().empty() && bytes <= member.memory.layout().own_bytes()) {
    return member.memory.own_slot(*working.number()).data;
  }
  Spill& spill = working.spill();
  if (spill.size() < bytes) {
    const bool first = spill.empty();
    spill.resize(bytes);
    if (first && has_slot) {
      const auto slot = member.memory.own_slot(*working.number()).data;
      const std::uint64_t staged = std::min<std::uint64_t>(working.staged().end() * member.element_bytes(), bytes);
      std::copy_n(slot.begin(), staged, spill.begin());
    }
  }
  return spill;
}

void Staging::stage_elements(const MemberAccess& access, const void* buffer, const IntervalSet& elements) {
  if (elements.empty()) return;
  const Member& member = access.member();
  const auto memory = staging_memory(access, elements.end() * member.element_bytes());
  // From here on the slot has changed, whatever happens to the copy.
  access.slot().note_staged(elements, member.element_bytes());
  const std::uint32_t bytes = member.element_bytes();
  const Stores stores = worth_streaming(elements.count() * bytes) ? Stores::streaming : Stores::cached;
  for (const Interval& each : elements.intervals()) {
    if (buffer == memory.data()) break;  // they are there: staging_area()
    const auto to = memory.subspan(each.first * bytes, each.count() * bytes);
    if (member.info().type->contiguous()) {
      copy_bytes(to, {static_cast<const std::byte*>(buffer) + each.first * bytes, to.size()}, stores);
    } else {
      member.info().type->pack(buffer, each.first, each.count(), to.data());
    }
  }
}

// Returns the elements of the snapshot under construction, packed, with zeros where nothing was stored or staged.
Spill Staging::elements_so_far(const MemberAccess& access) const {
  const WorkingSlot& working = access.slot();
  const Member& member = access.member();
  const std::uint32_t bytes = member.element_bytes();
  const IntervalSet stored = working.stored() - working.staged();
  Spill elements((working.stored() | working.staged()).end() * bytes);
  SnapshotReader reader(member, context_.parameters.commits_in_place());
  for (const Interval& each : stored.intervals()) {
    const auto from = reader.bytes(each.first * bytes, each.count() * bytes);
    std::memcpy(elements.data() + each.first * bytes, from.data(), from.size());
  }
  for (const Interval& each : working.staged().intervals()) {
    const std::byte* const from =
        working.spill().empty() ? member.memory.own_slot(*working.number()).data.data() : working.spill().data();
    std::memcpy(elements.data() + each.first * bytes, from + each.first * bytes, each.count() * bytes);
  }
  return elements;
}

// shown: what the file has at first, if something was stored or staged. It goes to the draft.
std::unique_ptr<SlotFile> Staging::staging_file(const MemberAccess& access, Spill shown) {
  WorkingSlot& working = access.slot();
  const Member& member = access.member();
  const bool has_slot = takes_slot(access);
  const std::span<std::byte> memory =
      has_slot ? member.memory.own_slot(*working.number()).data : std::span<std::byte>{};
  const std::uint64_t limit =
      member.may_be_resizeable() ? IntervalSet::kEndless : member.own_count() * member.element_bytes();
  working.draft().reset();
  if (!working.is_untouched()) {
    auto& draft = working.draft().emplace(std::move(shown));
    return std::make_unique<SlotFile>(std::span<std::byte>{}, draft.size(), draft, limit);
  }
  if (has_slot) working.note_overwritten();
  return std::make_unique<SlotFile>(memory, 0, working.spill(), limit);
}

// Stages elements of a file: it is as it should be.
void Staging::take_written(const MemberAccess& access, const IntervalSet& elements) {
  WorkingSlot& working = access.slot();
  const std::uint32_t bytes = access.member().element_bytes();
  std::optional<Spill> draft = std::exchange(working.draft(), std::nullopt);
  if (!draft || elements.empty()) return working.note_staged(elements, bytes);
  draft->resize(std::max<std::uint64_t>(draft->size(), elements.end() * bytes));
  const auto memory = staging_memory(access, elements.end() * bytes);
  // From here on the slot has changed.
  working.note_staged(elements, bytes);
  for (const Interval& each : elements.intervals()) {
    std::memcpy(memory.data() + each.first * bytes, draft->data() + each.first * bytes, each.count() * bytes);
  }
}

IntervalSet Staging::stage_with_serializer(const MemberAccess& access, const Selection& selection) {
  const Member& member = access.member();
  const std::uint32_t bytes = member.element_bytes();
  auto* buffer = const_cast<void*>(member.buffer());  // a serializer writes to it only when it loads
  const auto file = staging_file(access, {});
  std::vector<Interval> written;
  const auto serialize = [&](std::uint64_t first, std::uint64_t count) {
    file->seek(first * bytes);
    member.serializer()(file->file(), FENIX_SERIALIZE, buffer, first, count);
    const std::uint64_t elements = (file->position() - std::min(file->position(), first * bytes)) / bytes;
    written.push_back({first, first + (count > 0 ? std::min(elements, count) : elements)});
  };
  if (is_open_ended(member, selection)) {
    serialize(0, 0);
  } else {
    const IntervalSet elements = elements_of(member, selection);
    for (const Interval& each : elements.intervals()) serialize(each.first, each.count());
  }
  if (!file->close()) {
    throw Error(FENIX_ERROR_INVALID_ARGUMENT, "the serializer of " + name_of(member) + " wrote beyond the member");
  }
  IntervalSet elements = IntervalSet::of(std::move(written));
  take_written(access, elements);
  return elements;
}

void Staging::stage(Member& member, const Selection& selection) {
  fault_point("stage.begin");
  check_storable(member, selection);
  const MemberAccess access = context_.requests.access(member);
  if (member.serializer()) {
    (void)stage_with_serializer(access, selection);
  } else {
    stage_elements(access, member.buffer(), elements_of(member, selection));
  }
  fault_point("stage.done");
}

void Staging::stage_from(Member& member, const void* buffer, const Selection& selection) {
  check_selection(member, selection, /*has_serializer=*/false);
  const IntervalSet elements = elements_of(member, selection);
  const MemberAccess access = context_.requests.access(member);
  if (is_staging_area(member, buffer) && !elements.empty()) check_staging_area(member, elements);
  stage_elements(access, buffer, elements);
}

std::span<std::byte> Staging::staging_area(Member& member) {
  if (member.is_resizeable() || !member.info().type->contiguous()) {
    throw Error(FENIX_ERROR_INVALID_ARGUMENT, name_of(member) + " is FENIX_RESIZEABLE, or its datatype has holes");
  }
  const MemberAccess access = context_.requests.access(member);
  const std::uint64_t bytes = member.own_count() * member.element_bytes();
  const auto memory = staging_memory(access, bytes).first(bytes);
  if (context_.parameters.commits_in_place()) take_from_buffers(access, memory);
  access.slot().lend();
  return memory.empty() ? std::span(&no_elements, 0) : memory;
}

bool Staging::is_staging_area(const Member& member, const void* buffer) const {
  const WorkingSlot& working = member.working();
  const auto* start = static_cast<const std::byte*>(buffer);
  if (start == &no_elements) return true;
  if (working.is_lent() && !working.spill().empty() && start == working.spill().data()) return true;
  if (working.is_lent() && working.spill().empty() && working.number() &&
      start == member.memory.own_slot(*working.number()).data.data())
    return true;
  if (!KeptAddresses::have(start) && !Mapping::have(start)) return false;
  throw Error(FENIX_ERROR_INVALID_ARGUMENT,
              "buf is memory of the library, but not of " + name_of(member) + " in this snapshot");
}

void Staging::unspill(const MemberAccess& access) {
  WorkingSlot& working = access.slot();
  if (working.spill().empty()) return;
  (void)context_.reclaimer.take_slot(access);
  const Member& member = access.member();
  const std::uint32_t bytes = member.element_bytes();
  working.note_staged(working.staged(), bytes);
  const auto slot = member.memory.own_slot(*working.number()).data;
  for (const Interval& each : working.staged().intervals()) {
    std::memcpy(slot.data() + each.first * bytes, working.spill().data() + each.first * bytes, each.count() * bytes);
  }
  Spill().swap(working.spill());
}

std::FILE* Staging::open(Member& member) {
  const MemberAccess access = context_.requests.access(member);
  auto file = staging_file(access, elements_so_far(access));
  context_.members.close_ended_files(member.id());
  return member.open_file(std::move(file), FileUse::staging);
}

void Staging::close(Member& member) {
  const auto file = member.close_file();
  const MemberAccess access = context_.requests.access(member);
  const std::uint32_t bytes = member.element_bytes();
  if (!file->close())
    throw Error(FENIX_ERROR_INVALID_ARGUMENT, "a write to the file of " + name_of(member) + " failed");
  if (file->written() % bytes != 0) {
    throw Error(FENIX_ERROR_INVALID_ARGUMENT, "the file of " + name_of(member) + " got " +
                                                  std::to_string(file->written()) +
                                                  " bytes, which are not whole elements");
  }
  take_written(access, {0, file->written() / bytes});
}

}  // namespace fenix_impl
