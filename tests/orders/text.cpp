// SPDX-License-Identifier: BSD-3-Clause
// Programs as text.
#include <algorithm>

#include "orders/plan.hpp"

namespace fenix_orders {

std::string text_of(const Program& program) {
  Planner planner(program, true);
  Phase phase;
  std::string text = number(program.ranks) + " ranks\n";
  while (planner.next(phase)) {
    std::size_t most = 0;
    for (const auto& steps : phase.steps) most = std::max(most, steps.size());
    for (std::size_t step = 0; step < most; ++step) {
      for (std::size_t rank = 0; rank < phase.steps.size(); ++rank) {
        if (step >= phase.steps[rank].size()) continue;
        const std::string& own = phase.steps[rank][step].text;
        const bool on_all = rank == 0 && std::all_of(phase.steps.begin(), phase.steps.end(), [&](const auto& steps) {
                              return step < steps.size() && steps[step].text == own;
                            });
        text += (on_all ? "all:    " : "rank " + number(static_cast<int>(rank)) + ": ") + own + "\n";
        if (on_all) break;
      }
    }
    for (const int rank : phase.dying) {
      const auto at = static_cast<std::size_t>(rank);
      const bool early = !phase.open_from.empty() && phase.dies_before[at] < phase.steps[at].size();
      text += "rank " + number(rank) + " dies, and is replaced" +
              (early ? ": before " + phase.steps[at][phase.dies_before[at]].text : "") + "\n";
    }
  }
  return text;
}

}  // namespace fenix_orders
