// SPDX-License-Identifier: BSD-3-Clause
#include "core/parts/restore_target.hpp"

#include <cstdio>
#include <string>

#include "base/error.hpp"
#include "base/probe.hpp"

namespace fenix_impl {
namespace {

void check_writable(const Found& found, const Target& target, const Member& member) {
  if (target.buffer == nullptr || found.elements.empty() || member.serializer() || !member.info().type->contiguous()) {
    return;
  }
  const std::uint64_t begin = found.elements.intervals().front().first * member.element_bytes();
  const std::uint64_t end = found.elements.end() * member.element_bytes();
  if (can_write(static_cast<std::byte*>(target.buffer) + begin, end - begin)) return;
  throw Error(FENIX_ERROR_INVALID_ARGUMENT, "target_buffer of " + name_of(member) + " cannot be written");
}

}  // namespace

Found found_in(const MemberVersion& version, const SnapshotChoice& choice, bool resizeable) {
  const bool beyond = resizeable && choice.kind == SnapshotChoice::Kind::all;
  Found found;
  found.elements = beyond ? version.found : version.found.within(0, version.size);
  found.partial = !found.elements.covers(0, version.size);
  return found;
}

void check_target(const Found& found, const Target& target, const Member& member) {
  if (target.buffer != nullptr && found.elements.end() > target.room) {
    throw Error(FENIX_ERROR_BUFFER_TOO_SMALL, "max_count " + std::to_string(target.room) + " is less than the " +
                                                  std::to_string(found.elements.end()) + " elements found");
  }
  check_writable(found, target, member);
}

std::uint64_t note_of_serializer(const Member& member) { return member.serializer() ? 1 : 0; }

void write_to(const Target& target, const Member& member, std::span<const std::byte> slot,
              const IntervalSet& elements) {
  const bool wanted = target.buffer != nullptr || (target.in_place && member.serializer());
  if (!wanted || elements.empty()) return;
  const std::uint32_t bytes = member.element_bytes();
  if (!member.serializer()) {
    for (const Interval& each : elements.intervals()) {
      member.info().type->unpack(slot.data() + each.first * bytes, each.first, each.count(), target.buffer);
    }
    return;
  }
  SlotFile file(slot);
  for (const Interval& each : elements.intervals()) {
    file.seek(each.first * bytes);
    std::clearerr(file.file());
    member.serializer()(file.file(), FENIX_DESERIALIZE, target.buffer, each.first, each.count());
  }
}

}  // namespace fenix_impl
