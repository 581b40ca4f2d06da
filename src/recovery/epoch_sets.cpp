// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/epoch_sets.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace fenix_impl {

std::vector<Epoch> consistent_epochs(const std::vector<CommittedEpochs>& ranks, int depth) {
  if (ranks.empty() || !ranks[0]) return {};
  std::vector<Epoch> common = *ranks[0];
  for (const CommittedEpochs& epochs : ranks) {
    if (!epochs) return {};
    std::vector<Epoch> both;
    std::set_intersection(common.begin(), common.end(), epochs->begin(), epochs->end(), std::back_inserter(both));
    common = std::move(both);
  }
  if (common.empty()) return common;
  const std::uint64_t newest = common.back().value;
  std::erase_if(common, [&](Epoch epoch) { return epoch.value + static_cast<std::uint64_t>(depth) < newest; });
  return common;
}

}  // namespace fenix_impl
