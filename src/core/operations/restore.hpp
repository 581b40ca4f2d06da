// SPDX-License-Identifier: BSD-3-Clause
// Restoring what this rank has stored: first all ranks make sure that they can, then each copies.
#pragma once

#include <cstdint>
#include <cstdio>

#include "core/member/selection.hpp"
#include "core/state/operation_context.hpp"
#include "core/steps/restore_meeting.hpp"
#include "core/steps/restore_target.hpp"

namespace fenix_impl {

class RestoreOperation {
 public:
  explicit RestoreOperation(const OperationContext& context) : context_(context) {}

  /// Collective, after the meeting. Writes to the target when all ranks have what they need.
  Found run(std::int32_t member_id, const SnapshotChoice& choice, const Target& target, const RestoreMeeting& met);
  /// Local: the same without the other ranks, unless damage has to be mended from theirs.
  Found run_alone(Member& member, const SnapshotChoice& choice, const Target& target);
  /// Local: opens a file over the elements of a snapshot.
  std::FILE* open(Member& member, const SnapshotChoice& choice, Found& found);

 private:
  const MemberVersion& agree(Member& member, const SnapshotChoice& choice, const Target& target,
                             const RestoreMeeting& met, Found& found);
  const MemberVersion& checked_version(Member& member, Epoch epoch);

  const OperationContext& context_;
  std::uint64_t serializers_ = 0;  // note_of_serializer() of all ranks
};

}  // namespace fenix_impl
