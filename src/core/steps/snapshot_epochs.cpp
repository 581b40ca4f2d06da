// SPDX-License-Identifier: BSD-3-Clause
#include "core/steps/snapshot_epochs.hpp"

#include <algorithm>
#include <iterator>
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
  return common_to_all(context.team(), log.has_lost_data() ? CommonEpochs() : CommonEpochs(log.memory().own_epochs()))
      .consistent();
}

std::vector<Epoch> agreed_epochs(const OperationContext& context, const MeetingValues& notes) {
  if ((notes.bits & kGaps) != 0) return consistent_now(context).epochs;
  const std::uint64_t newest = notes.least;
  const std::uint64_t kept = std::min<std::uint64_t>(context.parameters.kept_snapshots(), newest);
  std::vector<Epoch> epochs;
  for (std::uint64_t epoch = newest - kept + 1; epoch <= newest; ++epoch) epochs.push_back({epoch});
  return epochs;
}

Epoch agree_on_epoch(const OperationContext& context, const SnapshotChoice& choice, const MeetingValues& notes) {
  return choose_epoch(context.parameters, choice, agreed_epochs(context, notes));
}

Epoch own_epoch(const OperationContext& context, const SnapshotChoice& choice) {
  return choose_epoch(context.parameters, choice, context.log.own_snapshots());
}

Epoch exact_own_epoch(const OperationContext& context, const SnapshotChoice& choice) {
  const std::vector<Epoch> epochs = context.log.own_snapshots();
  if (choice.kind != SnapshotChoice::Kind::at) return choose_epoch(context.parameters, choice, epochs);
  const auto found = std::find_if(epochs.begin(), epochs.end(), [&](Epoch epoch) {
    return context.parameters.time_stamp_of(epoch) == choice.time_stamp;
  });
  if (found != epochs.end()) return *found;
  throw Error(FENIX_ERROR_INVALID_TIMESTAMP, "no snapshot has the time_stamp " + std::to_string(choice.time_stamp));
}

Epoch choose_epoch(const GroupParameters& parameters, const SnapshotChoice& choice, std::span<const Epoch> epochs) {
  if (epochs.empty()) throw Error(FENIX_ERROR_NODATA_FOUND, "the group has no consistent snapshot");
  if (choice.kind != SnapshotChoice::Kind::at) return epochs.back();
  const std::string stamp = "time_stamp " + std::to_string(choice.time_stamp);
  if (choice.time_stamp < 0) throw Error(FENIX_ERROR_INVALID_TIMESTAMP, stamp + " is negative");
  const auto newer = std::find_if(epochs.begin(), epochs.end(),
                                  [&](Epoch epoch) { return parameters.time_stamp_of(epoch) > choice.time_stamp; });
  if (newer == epochs.begin()) throw Error(FENIX_ERROR_NODATA_FOUND, "every snapshot is newer than " + stamp);
  return *std::prev(newer);
}

}  // namespace fenix_impl
