// SPDX-License-Identifier: BSD-3-Clause
// The application's side of a restore: where elements go, whether they fit, and how they get there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/interval_set.hpp"
#include "core/common/meeting.hpp"
#include "core/member/member.hpp"
#include "core/member/selection.hpp"
#include "rma/team.hpp"

namespace fenix_impl {

/// Where a restore puts elements.
struct Target {
  void* buffer = nullptr;                       ///< null: nowhere
  std::uint64_t room = IntervalSet::kEndless;   ///< elements that fit: more are an error
  bool in_place = false;                        ///< the member's source buffer, which may be null with a serializer
  std::uint64_t limit = IntervalSet::kEndless;  ///< elements that are wanted: more are left out
};

/// The result of a restore.
struct Found {
  IntervalSet elements;  ///< all that the snapshot has, wanted or not
  bool partial = false;  ///< some elements that are wanted are in no snapshot
};

/// Returns the elements of a version that a call is about. limit: as in Target; without one, the elements up to the last one are
/// wanted.
[[nodiscard]] Found found_in(const MemberVersion& version, const SnapshotChoice& choice, bool resizeable,
                             std::uint64_t limit = IntervalSet::kEndless);

/// Throws Error if the elements do not fit the target, or if it cannot be written. Called while the ranks meet: otherwise the ranks
/// that can write would.
void check_target(const Found& found, const Target& target, const Member& member);

/// Returns the bits for the meeting before the write: whether a serializer will read, which may fail.
[[nodiscard]] std::uint64_t note_of_serializer(const Member& member);
/// Writes once all ranks can. If some rank has a serializer, the ranks meet again: all get the error that one throws. bits: of
/// note_of_serializer, from all ranks. Collective.
template <class Write>
void write_on_all(Team& team, std::uint64_t bits, const Write& write) {
  if (bits == 0) {
    alone(write);
    return;
  }
  together(team, [&] { (void)meet(team, Operation::restore_written, 0, 0, [&write] { write(); }); });
}
/// Writes the elements of a slot that are found and wanted to the target, or has the serializer read them. Local.
void write_to(const Target& target, const Member& member, std::span<const std::byte> slot, const IntervalSet& found);

}  // namespace fenix_impl
