// SPDX-License-Identifier: BSD-3-Clause
// Staging: elements on their way from the application into the slot of the snapshot under construction. All of it is local.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>

#include "core/member/selection.hpp"
#include "core/state/operation_context.hpp"

namespace fenix_impl {

/// Whether a serializer says how many elements there are.
[[nodiscard]] inline bool is_open_ended(const Member& member, const Selection& selection) {
  return selection.kind == Selection::Kind::all && member.may_be_resizeable() && member.serializer();
}

/// Returns the elements of a member that a selection names. One that is open-ended names none.
[[nodiscard]] IntervalSet elements_of(const Member& member, const Selection& selection);

class Staging {
 public:
  explicit Staging(const OperationContext& context) : context_(context) {}

  /// Throws Error unless the elements can be staged or stored from the member's buffer, or have been staged.
  void check_storable(const Member& member, const Selection& selection) const;
  /// Throws Error unless the elements can be staged, wherever they come from.
  void check_selection(const Member& member, const Selection& selection, bool has_serializer) const;

  /// Stages from the member's buffer, or from another one. May wait for space.
  void stage(Member& member, const Selection& selection);
  void stage_from(Member& member, const void* buffer, const Selection& selection);
  /// Returns the memory of the snapshot under construction, for the application to write to. May wait for space.
  std::span<std::byte> staging_area(Member& member);
  /// Whether a buffer is what staging_area() gave for this snapshot. Throws Error(FENIX_ERROR_INVALID_ARGUMENT) if it was for
  /// another one, or another member of the group.
  [[nodiscard]] bool is_staging_area(const Member& member, const void* buffer) const;
  /// Opens and closes a file over the elements of the snapshot under construction.
  std::FILE* open(Member& member);
  void close(Member& member);

  // ------------------------------------------------------------------------------------------------ steps of other operations

  /// Whether the elements fit the slot, and nothing is beside it.
  [[nodiscard]] static bool has_room(const Member& member, const IntervalSet& elements);
  void stage_elements(const MemberAccess& access, const void* buffer, const IntervalSet& elements);
  /// Returns memory for so many bytes of the snapshot under construction: the slot, or something beside it. May wait for space.
  std::span<std::byte> staging_memory(const MemberAccess& access, std::uint64_t bytes);
  /// Calls the serializer. Returns the elements that it has written.
  IntervalSet stage_with_serializer(const MemberAccess& access, const Selection& selection);
  /// Puts elements that had no room into the slot, which has room now.
  void unspill(const MemberAccess& access);

 private:
  void check_pieces(const Member& member, const IntervalSet& elements) const;
  [[nodiscard]] bool takes_slot(const MemberAccess& access) const;
  [[nodiscard]] Spill elements_so_far(const MemberAccess& access) const;
  [[nodiscard]] std::unique_ptr<SlotFile> staging_file(const MemberAccess& access, Spill shown);
  void take_written(const MemberAccess& access, const IntervalSet& elements);

  const OperationContext& context_;
};

}  // namespace fenix_impl
