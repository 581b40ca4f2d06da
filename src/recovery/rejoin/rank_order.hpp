// SPDX-License-Identifier: BSD-3-Clause
// The order of ranks by which a placement was made: a rank that takes a dead one's place has to learn it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rma/team.hpp"

namespace fenix_impl {

/// Ranks that follow each other in an order, each so many after the one before.
struct Run {
  std::int32_t first = 0;
  std::int32_t step = 1;
  std::int32_t ranks = 0;

  bool operator==(const Run&) const = default;
};

/// An order as runs: one where nodes have successive ranks, one for each node where ranks are dealt out to them.
[[nodiscard]] std::vector<Run> runs_of(std::span<const int> order);
/// Throws Error(FENIX_ERROR_INTERN) if they are no order of so many ranks; any may be given.
[[nodiscard]] std::vector<int> order_in(std::span<const Run> runs, int ranks);

/// Collective: all get to know the order that the rank source knows. ranks: how many it is of, the same on all.
[[nodiscard]] std::vector<int> share_rank_order(Team& team, int source, int ranks, std::span<const int> known);

}  // namespace fenix_impl
