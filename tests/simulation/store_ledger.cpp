// SPDX-License-Identifier: BSD-3-Clause
#include "store_ledger.hpp"

#include <algorithm>

namespace fenix_simulation {

void StoreLedger::begins_commit(int group, int step, std::int64_t attempt) {
  auto& begun = at(group).begun;
  begun.try_emplace({step, attempt}, static_cast<int>(begun.size()));
}

void StoreLedger::told(int group, int step, std::int64_t attempt) {
  Group& its = at(group);
  const auto found = its.begun.find({step, attempt});
  if (found != its.begun.end()) its.told = std::max(its.told, found->second);
}

std::string StoreLedger::restored(int group, int step, std::int64_t attempt, bool is_promised) const {
  const Group& its = at(group);
  const auto found = its.begun.find({step, attempt});
  const std::string what = "step " + std::to_string(step) + " of attempt " + std::to_string(attempt) + " of group " +
                           std::to_string(group);
  if (step >= 0 && found == its.begun.end()) return what + " is restored, whose commit nobody has begun";
  const int got = step >= 0 ? found->second : -1;
  if (!is_promised || got >= its.told) return {};
  const auto newest = std::find_if(its.begun.begin(), its.begun.end(), [&](const auto& each) { return each.second == its.told; });
  return (step < 0 ? "nothing of group " + std::to_string(group) : what) + " is restored, though step " +
         std::to_string(newest->first.first) + " of attempt " + std::to_string(newest->first.second) + " is in the store";
}

}  // namespace fenix_simulation
