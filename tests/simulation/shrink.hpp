// SPDX-License-Identifier: BSD-3-Clause
// Makes a schedule that breaks a promise smaller, as long as the same promise breaks.
#pragma once

#include "schedule.hpp"

namespace fenix_simulation {

Schedule shrunk(const Schedule& schedule);

}  // namespace fenix_simulation
