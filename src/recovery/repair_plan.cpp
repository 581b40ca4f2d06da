// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/repair_plan.hpp"

#include <cstddef>

namespace fenix_impl {
namespace {

constexpr int kNobody = -1;

}  // namespace

RepairPlan plan_repair(int places, int spares, const std::vector<Seat>& living) {
  std::vector<int> in_place(static_cast<std::size_t>(places), kNobody);
  std::vector<int> in_reserve(static_cast<std::size_t>(spares), kNobody);
  for (std::size_t i = 0; i < living.size(); ++i) {
    const Seat& seat = living[i];
    auto& row = seat.place >= 0 ? in_place : in_reserve;
    row.at(static_cast<std::size_t>(seat.place >= 0 ? seat.place : seat.spare)) = static_cast<int>(i);
  }

  RepairPlan plan;
  for (int place = 0; place < places; ++place) {
    if (in_place[static_cast<std::size_t>(place)] == kNobody) plan.failed.push_back(place);
  }
  for (int spare = 0; spare < spares; ++spare) {
    if (in_reserve[static_cast<std::size_t>(spare)] == kNobody) plan.failed.push_back(places + spare);
  }

  auto next_spare = in_reserve.begin();
  const auto take_spare = [&] {
    while (next_spare != in_reserve.end() && *next_spare == kNobody) ++next_spare;
    return next_spare == in_reserve.end() ? kNobody : *next_spare++;
  };
  for (int process : in_place) {
    const bool dead = process == kNobody;
    if (dead) process = take_spare();
    if (process == kNobody) {
      plan.shrunk = true;
      continue;
    }
    plan.active.push_back(process);
    plan.recovered.push_back(dead);
  }
  for (int process = take_spare(); process != kNobody; process = take_spare()) plan.spares.push_back(process);
  return plan;
}

}  // namespace fenix_impl
