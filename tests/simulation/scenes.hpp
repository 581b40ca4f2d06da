// SPDX-License-Identifier: BSD-3-Clause
// Parts of schedules that chance hardly ever draws.
#pragma once

#include "schedule.hpp"

namespace fenix_simulation {

/// Makes one of the scenes of a schedule, once in some. Returns false if it is none.
bool draw_scene(Dice& dice, Schedule& schedule);
/// The death of another rank than the one whose own record is damaged: that one knows what it has written.
Event draw_death_beside(Dice& dice, const Workload& work, const Event& flip);
/// A request of the system that fails in a repair.
Event draw_refusal(Dice& dice, const Workload& work);

}  // namespace fenix_simulation
