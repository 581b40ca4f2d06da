// SPDX-License-Identifier: BSD-3-Clause
#include "core/epochs.hpp"

#include <algorithm>

namespace fenix_impl {
namespace {

const CommittedEpoch* find(const std::vector<CommittedEpoch>& epochs, Epoch epoch) {
  const auto found =
      std::find_if(epochs.begin(), epochs.end(), [&](const CommittedEpoch& each) { return each.epoch == epoch; });
  return found == epochs.end() ? nullptr : &*found;
}

bool all_have(const std::vector<CommittedEpochs>& ranks, Epoch epoch) {
  return std::all_of(ranks.begin(), ranks.end(),
                     [&](const CommittedEpochs& epochs) { return find(*epochs, epoch) != nullptr; });
}

bool any_deleted(const std::vector<CommittedEpochs>& ranks, Epoch epoch) {
  return std::any_of(ranks.begin(), ranks.end(),
                     [&](const CommittedEpochs& epochs) { return find(*epochs, epoch)->deleted != 0; });
}

}  // namespace

ConsistentEpochs consistent_epochs(const std::vector<CommittedEpochs>& ranks) {
  ConsistentEpochs result;
  if (ranks.empty()) return result;
  for (const CommittedEpochs& epochs : ranks) {
    if (!epochs) return result;
  }
  std::vector<Epoch> common;
  for (const CommittedEpoch& each : *ranks[0]) {
    if (all_have(ranks, each.epoch)) common.push_back(each.epoch);
  }
  if (common.empty()) return result;
  result.newest = common.back();
  Epoch oldest;
  for (const CommittedEpochs& epochs : ranks) oldest = std::max(oldest, find(*epochs, result.newest)->oldest_kept);
  for (const Epoch epoch : common) {
    if (epoch >= oldest && !any_deleted(ranks, epoch)) result.epochs.push_back(epoch);
  }
  return result;
}

}  // namespace fenix_impl
