// SPDX-License-Identifier: BSD-3-Clause
#include "store_ledger.hpp"

#include <algorithm>

namespace fenix_simulation {

void StoreLedger::begins_commit(int group, int step, std::int64_t attempt) {
  auto& begun = at(group).begun;
  begun.try_emplace({step, attempt}, static_cast<int>(begun.size()));
}

void StoreLedger::committed(int group, int rank, int step, std::int64_t attempt, bool on_all) {
  Group& its = at(group);
  const int order = its.begun.at({step, attempt});
  its.committed[rank] = order;
  if (on_all) its.on_all = std::max(its.on_all, order);
}

// Keepers have the memory of all ranks, or have written it. A commit in place that was cut short is another matter.
void StoreLedger::end_job(int ranks, bool all_died) {
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    Group& its = groups_[i];
    if (static_cast<int>(its.committed.size()) == ranks) {
      const auto least = std::min_element(its.committed.begin(), its.committed.end(),
                                          [](const auto& a, const auto& b) { return a.second < b.second; });
      its.on_all = std::max(its.on_all, least->second);
    }
    if (all_died && plan_.lease > 0 && !plan_.groups[i].in_place) its.told = std::max(its.told, its.on_all);
    its.committed.clear();
    its.on_all = -1;
  }
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
