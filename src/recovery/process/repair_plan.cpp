// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/process/repair_plan.hpp"

#include <algorithm>
#include <cstddef>

namespace fenix_impl {
namespace {

constexpr int kNobody = -1;

}  // namespace

RepairPlan plan_repair(int active, int spares, const std::vector<Seat>& living) {
  std::vector<int> in_rank(static_cast<std::size_t>(active), kNobody);
  std::vector<int> in_reserve(static_cast<std::size_t>(spares), kNobody);
  for (std::size_t i = 0; i < living.size(); ++i) {
    const Seat& seat = living[i];
    auto& row = seat.rank >= 0 ? in_rank : in_reserve;
    row.at(static_cast<std::size_t>(seat.rank >= 0 ? seat.rank : seat.spare)) = static_cast<int>(i);
  }

  RepairPlan plan;
  for (int rank = 0; rank < active; ++rank) {
    if (in_rank[static_cast<std::size_t>(rank)] == kNobody) plan.failed.push_back(rank);
  }
  for (int spare = 0; spare < spares; ++spare) {
    if (in_reserve[static_cast<std::size_t>(spare)] == kNobody) plan.failed.push_back(active + spare);
  }

  auto next_spare = in_reserve.begin();
  const auto take_spare = [&] {
    while (next_spare != in_reserve.end() && *next_spare == kNobody) ++next_spare;
    return next_spare == in_reserve.end() ? kNobody : *next_spare++;
  };
  for (int rank = 0; rank < active; ++rank) {
    int process = in_rank[static_cast<std::size_t>(rank)];
    const bool dead = process == kNobody;
    if (dead) process = take_spare();
    if (process == kNobody) {
      plan.shrunk = true;
      continue;
    }
    plan.active.push_back(process);
    plan.former.push_back(rank);
    plan.recovered.push_back(dead);
  }
  for (int process = take_spare(); process != kNobody; process = take_spare()) plan.spares.push_back(process);
  return plan;
}

bool keeps_order(const RepairPlan& plan) {
  int next = 0;
  const auto is_next = [&](int process) { return process == next++; };
  return std::all_of(plan.active.begin(), plan.active.end(), is_next) &&
         std::all_of(plan.spares.begin(), plan.spares.end(), is_next);
}

}  // namespace fenix_impl
