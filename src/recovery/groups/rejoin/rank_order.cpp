// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/groups/rejoin/rank_order.hpp"

#include <cstddef>

#include "base/error.hpp"
#include "base/location.hpp"

namespace fenix_impl {

std::vector<Run> runs_of(std::span<const int> order) {
  std::vector<Run> runs;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const int step = i > 0 ? order[i] - order[i - 1] : 0;
    if (!runs.empty() && (runs.back().ranks == 1 || runs.back().step == step)) {
      runs.back().step = step;
      ++runs.back().ranks;
    } else {
      runs.push_back({order[i], 1, 1});
    }
  }
  return runs;
}

std::vector<int> order_in(std::span<const Run> runs, int ranks) {
  std::vector<int> order;
  for (const Run& run : runs) {
    const auto room = static_cast<std::size_t>(ranks) - order.size();
    if (run.ranks < 1 || static_cast<std::size_t>(run.ranks) > room) {
      throw Error(FENIX_ERROR_INTERN, "what a rank says of the order of ranks cannot be");
    }
    std::int64_t rank = run.first;
    for (std::int32_t i = 0; i < run.ranks; ++i, rank += run.step) {
      order.push_back(rank >= 0 && rank < ranks ? static_cast<int>(rank) : -1);
    }
  }
  if (order.size() != static_cast<std::size_t>(ranks) || !is_order(order)) {
    throw Error(FENIX_ERROR_INTERN, "what a rank says of the order of ranks cannot be");
  }
  return order;
}

std::vector<int> share_rank_order(Team& team, int source, int ranks, std::span<const int> known) {
  std::vector<Run> runs;
  if (team.rank() == source) runs = runs_of(known);
  team.broadcast_list(runs, source);
  return order_in(runs, ranks);
}

}  // namespace fenix_impl
