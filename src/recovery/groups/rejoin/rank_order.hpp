// SPDX-License-Identifier: BSD-3-Clause
// The order of ranks by which a placement was made: a rank that takes a dead one's place has to learn it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rma/team.hpp"

namespace fenix_impl {

/// A run of ranks in an order, each so many after the one before.
struct Run {
  std::int32_t first = 0;
  std::int32_t step = 1;
  std::int32_t ranks = 0;

  bool operator==(const Run&) const = default;
};

/// Returns an order as runs: one run if nodes have successive ranks, one for each node if ranks are dealt out to the
/// nodes.
[[nodiscard]] std::vector<Run> runs_of(std::span<const int> order);
/// Returns the order of so many ranks. Any runs may be given; throws Error(FENIX_ERROR_INTERN) if they are no such
/// order.
[[nodiscard]] std::vector<int> order_in(std::span<const Run> runs, int ranks);

/// Gives all ranks the order that the rank source knows. Collective. ranks: length of the order, the same on all.
[[nodiscard]] std::vector<int> share_rank_order(Team& team, int source, int ranks, std::span<const int> known);

}  // namespace fenix_impl
