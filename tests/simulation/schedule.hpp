// SPDX-License-Identifier: BSD-3-Clause
// A schedule: all that a run of the simulation depends on. It is drawn from a seed, or read from a file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "choices.hpp"
#include "plan.hpp"
#include "workload.hpp"

namespace fenix_simulation {

struct Schedule {
  std::uint64_t seed = 0;
  Workload work;
  Surroundings surroundings;
  std::vector<Event> events;
  std::vector<Edit> edits;

  friend bool operator==(const Schedule&, const Schedule&) = default;
};

/// Draws a schedule. The same seed gives the same one, as long as this program and the fault points stay as they are.
Schedule draw_schedule(std::uint64_t seed);
/// From now on, all schedules that are drawn have a store.
void draw_stores_only();
/// Draws an event for a workload. after: another event, or −1.
Event draw_event(Dice& dice, const Workload& work, int after);
/// Draws a rank that is stopped for a while, perhaps for longer than others wait.
Event draw_stop(Dice& dice, const Workload& work);

std::string text_of(const Schedule& schedule);
/// Throws std::runtime_error for a text that is none.
Schedule schedule_in(const std::string& text);

}  // namespace fenix_simulation
