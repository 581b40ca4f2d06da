// SPDX-License-Identifier: BSD-3-Clause
#include "core/steps/restore_target.hpp"

#include <algorithm>
#include <cstdio>
#include <string>

#include "base/error.hpp"
#include "base/probe.hpp"

namespace fenix_impl {
namespace {

void check_writable(const IntervalSet& elements, const Target& target, const Member& member) {
  if (target.buffer == nullptr || elements.empty() || member.serializer() || !member.info().type->contiguous()) {
    return;
  }
  const std::uint64_t begin = elements.intervals().front().first * member.element_bytes();
  const std::uint64_t end = elements.end() * member.element_bytes();
  if (can_write(static_cast<std::byte*>(target.buffer) + begin, end - begin)) return;
  throw Error(FENIX_ERROR_INVALID_ARGUMENT, "target_buffer of " + name_of(member) + " cannot be written");
}

}  // namespace

Found found_in(const MemberVersion& version, const SnapshotChoice& choice, bool resizeable, std::uint64_t limit) {
  const bool beyond = resizeable && choice.kind == SnapshotChoice::Kind::all;
  Found found;
  found.elements = beyond ? version.found : version.found.within(0, version.size);
  found.partial = !found.elements.covers(0, limit == IntervalSet::kEndless ? found.elements.end() : limit);
  return found;
}

void check_target(const Found& found, const Target& target, const Member& member) {
  const IntervalSet elements = found.elements.within(0, target.limit);
  if (target.buffer != nullptr && elements.end() > target.room) {
    throw Error(FENIX_ERROR_BUFFER_TOO_SMALL, "the target has room for " + std::to_string(target.room) + " of the " +
                                                  std::to_string(elements.end()) + " elements found");
  }
  check_writable(elements, target, member);
}

std::uint64_t note_of_serializer(const Member& member) { return member.serializer() ? 1 : 0; }

void write_to(const Target& target, const Member& member, std::span<const std::byte> slot, const IntervalSet& found) {
  const bool wanted = target.buffer != nullptr || (target.in_place && member.serializer());
  if (!wanted || found.empty()) return;
  const std::uint32_t bytes = member.element_bytes();
  // No set of the elements that are wanted is made: that could take memory.
  const auto each_wanted = [&](auto&& act) {
    for (const Interval& each : found.intervals()) {
      if (each.first >= target.limit) return;
      act(each.first, std::min(each.end, target.limit) - each.first);
    }
  };
  if (!member.serializer()) {
    each_wanted([&](std::uint64_t first, std::uint64_t count) {
      member.info().type->unpack(slot.data() + first * bytes, first, count, target.buffer);
    });
    return;
  }
  if (target.limit == 0) return;
  SlotFile file(slot);
  each_wanted([&](std::uint64_t first, std::uint64_t count) {
    file.seek(first * bytes);
    std::clearerr(file.file());
    member.serializer()(file.file(), FENIX_DESERIALIZE, target.buffer, first, count);
  });
}

}  // namespace fenix_impl
