// SPDX-License-Identifier: BSD-3-Clause
#include "core/parts/snapshot_epochs.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace fenix_impl {
namespace {

// In a note: the rank lacks some epochs before its latest one.
constexpr std::uint64_t kGaps = std::uint64_t{1} << 63;

}  // namespace

std::uint64_t epoch_note(const CommitLog& log) { return log.last().value | (log.has_gaps() ? kGaps : 0); }

// Without redundancy, a rank that has lost all takes nothing from the others.
ConsistentEpochs consistent_now(const OperationContext& context) {
  const CommitLog& log = context.log;
  return common_to_all(context.team(), log.has_lost_data() ? CommonEpochs() : CommonEpochs(log.own_epochs()))
      .consistent();
}

Epoch agree_on_epoch(const OperationContext& context, const SnapshotChoice& choice, const MeetingValues& notes) {
  const std::uint64_t newest = notes.least;  // if no rank has gaps
  std::vector<Epoch> epochs;
  if ((notes.bits & kGaps) != 0) {
    epochs = consistent_now(context).epochs;
  } else if (newest > 0) {
    const std::uint64_t kept = std::min<std::uint64_t>(context.parameters.kept_snapshots(), newest);
    for (std::uint64_t epoch = newest - kept + 1; epoch <= newest; ++epoch) epochs.push_back({epoch});
  }
  return choose_epoch(context.parameters, choice, epochs);
}

Epoch own_epoch(const OperationContext& context, const SnapshotChoice& choice) {
  return choose_epoch(context.parameters, choice, context.log.epochs());
}

Epoch choose_epoch(const GroupParameters& parameters, const SnapshotChoice& choice, std::span<const Epoch> epochs) {
  if (epochs.empty()) throw Error(FENIX_ERROR_NODATA_FOUND, "the group has no consistent snapshot");
  if (choice.kind != SnapshotChoice::Kind::at) return epochs.back();
  for (const Epoch epoch : epochs) {
    if (parameters.time_stamp_of(epoch) == choice.time_stamp) return epoch;
  }
  throw Error(FENIX_ERROR_INVALID_TIMESTAMP, "no snapshot has the time_stamp " + std::to_string(choice.time_stamp));
}

}  // namespace fenix_impl
