// SPDX-License-Identifier: BSD-3-Clause
#include "placement.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace fenix_simulation {

std::vector<int> holders(const GroupPlan& group, int ranks) {
  const int separation = std::clamp(group.separation, 1, std::max(ranks - 1, 1));
  std::vector<int> holder(static_cast<std::size_t>(ranks));
  const auto set = [&](int rank, int its) { holder[static_cast<std::size_t>(rank)] = its; };
  if (group.policy == Policy::ring) {
    for (int rank = 0; rank < ranks; ++rank) set(rank, (rank + separation) % ranks);
    return holder;
  }
  std::vector<int> paired(static_cast<std::size_t>(ranks));
  std::iota(paired.begin(), paired.end(), 0);
  if (ranks % 2 == 1) {
    // Three of an odd number go round.
    const std::vector<int> chain{0, ranks / 2, ranks - 1};
    for (std::size_t i = 0; i < chain.size(); ++i) set(chain[i], chain[(i + 1) % chain.size()]);
    std::erase_if(paired, [&](int rank) { return std::find(chain.begin(), chain.end(), rank) != chain.end(); });
  }
  for (std::size_t start = 0; start + 1 < paired.size();) {
    const std::size_t half = std::min(static_cast<std::size_t>(separation), (paired.size() - start) / 2);
    for (std::size_t i = start; i < start + half; ++i) {
      set(paired[i], paired[i + half]);
      set(paired[i + half], paired[i]);
    }
    start += 2 * half;
  }
  return holder;
}

std::vector<std::vector<int>> cohorts(const GroupPlan& group, int ranks) {
  std::vector<std::vector<int>> found;
  int first = 0;
  while (ranks - first >= group.size) {
    const int apart = std::min(group.separation, (ranks - first) / group.size);
    for (int start = first; start < first + apart; ++start) {
      auto& cohort = found.emplace_back();
      for (int i = 0; i < group.size; ++i) cohort.push_back(start + i * apart);
    }
    first += apart * group.size;
  }
  if (found.empty()) {
    found.emplace_back(static_cast<std::size_t>(ranks));
    std::iota(found[0].begin(), found[0].end(), 0);
    return found;
  }
  // Ranks that are left join the last cohorts, one each.
  for (int rank = first, back = 0; rank < ranks; ++rank, ++back) {
    found[found.size() - 1 - static_cast<std::size_t>(back) % found.size()].push_back(rank);
  }
  return found;
}

bool covers(const GroupPlan& group, int ranks, const std::set<int>& dead) {
  // Each death costs the dead rank's data, and no other data: the ledger knows of it.
  if (dead.empty() || group.policy == Policy::local) return true;
  if (ranks < 2) return false;
  if (group.policy == Policy::buddies || group.policy == Policy::ring) {
    const auto holder = holders(group, ranks);
    return std::none_of(dead.begin(), dead.end(),
                        [&](int rank) { return dead.count(holder[static_cast<std::size_t>(rank)]) != 0; });
  }
  const auto all = cohorts(group, ranks);
  std::size_t smallest = static_cast<std::size_t>(ranks);
  for (const auto& cohort : all) smallest = std::min(smallest, cohort.size());
  const std::size_t losses = group.policy == Policy::reed_solomon ? static_cast<std::size_t>(group.losses) : 1;
  return std::all_of(all.begin(), all.end(), [&](const std::vector<int>& cohort) {
    const auto lost = std::count_if(cohort.begin(), cohort.end(), [&](int rank) { return dead.count(rank) != 0; });
    return static_cast<std::size_t>(lost) <= std::min(losses, smallest - 1);
  });
}

}  // namespace fenix_simulation
