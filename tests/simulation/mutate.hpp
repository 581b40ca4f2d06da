// SPDX-License-Identifier: BSD-3-Clause
// Other schedules like one that has come to something new.
#pragma once

#include "schedule.hpp"

namespace fenix_simulation {

/// seed: of the new schedule's choices, if they change.
Schedule mutated(const Schedule& schedule, Dice& dice, std::uint64_t seed);

}  // namespace fenix_simulation
