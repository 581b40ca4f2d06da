// SPDX-License-Identifier: BSD-3-Clause
// Which snapshot a call is about: the ranks find the epochs that all of them have, and the choice picks one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/common/meeting.hpp"
#include "core/log/epochs.hpp"
#include "core/member/selection.hpp"
#include "core/state/operation_context.hpp"

namespace fenix_impl {

/// Returns the value with which a rank meets the others before agree_on_epoch(): its latest epoch, and whether it lacks some
/// before it. Local.
[[nodiscard]] std::uint64_t epoch_note(const CommitLog& log);

/// Returns the snapshots that all ranks have now. Collective.
[[nodiscard]] ConsistentEpochs consistent_now(const OperationContext& context);

/// Returns the epochs of the snapshots that all ranks have, oldest first; the same on all. notes: of the meeting before. Collective.
[[nodiscard]] std::vector<Epoch> agreed_epochs(const OperationContext& context, const MeetingValues& notes);

/// Returns the epoch of a snapshot that all ranks have; the same on all. notes: of the meeting before. Collective. Throws Error if
/// there is none, or not the chosen one.
[[nodiscard]] Epoch agree_on_epoch(const OperationContext& context, const SnapshotChoice& choice,
                                   const MeetingValues& notes);

/// Returns the epoch of a snapshot of this rank. Local; throws as agree_on_epoch() does.
[[nodiscard]] Epoch own_epoch(const OperationContext& context, const SnapshotChoice& choice);

/// Does the same, but throws Error(FENIX_ERROR_INVALID_TIMESTAMP) if no snapshot of this rank has just this time stamp. Local.
[[nodiscard]] Epoch exact_own_epoch(const OperationContext& context, const SnapshotChoice& choice);

/// Picks one of the epochs, which are ordered, oldest first: the newest one up to the time stamp, if the choice has one. Throws as
/// agree_on_epoch() does.
[[nodiscard]] Epoch choose_epoch(const GroupParameters& parameters, const SnapshotChoice& choice,
                                 std::span<const Epoch> epochs);

}  // namespace fenix_impl
