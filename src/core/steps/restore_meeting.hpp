// SPDX-License-Identifier: BSD-3-Clause
// The meeting before a restore: some ranks may call Fenix_Data_member_repair there, and take part in the restore of the others.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/member/selection.hpp"
#include "core/state/operation_context.hpp"

namespace fenix_impl {

struct RestoreMeeting {
  bool some_restore = false;
  bool some_repair = false;
  std::vector<Epoch> epochs;  ///< snapshots that all ranks have, oldest first; known if some restore
};

/// Meets with all ranks over a member, which check has to know. Collective. choice: of a rank that restores; the same on all that do.
/// All ranks get the error that check throws on one.
[[nodiscard]] RestoreMeeting meet_to_restore(const OperationContext& context, std::int32_t member_id,
                                             const std::optional<SnapshotChoice>& choice,
                                             const std::function<void()>& check);

/// Meets with the ranks that restore: when each of them says whether it can, and when serializers have read. Collective.
void meet_ranks_that_restore(const OperationContext& context);

}  // namespace fenix_impl
