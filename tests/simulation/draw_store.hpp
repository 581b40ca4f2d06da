// SPDX-License-Identifier: BSD-3-Clause
// Schedules with a store: jobs that follow each other, and what happens to keepers and disks.
#pragma once

#include "schedule.hpp"

namespace fenix_simulation {

void draw_store(Dice& dice, Schedule& schedule);
/// Draws an event of any process or job.
Event draw_store_event(Dice& dice, const Workload& work, int after);

}  // namespace fenix_simulation
