// SPDX-License-Identifier: BSD-3-Clause
// Runs of schedules that may crash, and that leave nothing to the next one.
#pragma once

#include "run.hpp"

namespace fenix_simulation {

/// Runs a schedule in a process of its own, a child of one that has run none. A crash is a broken promise of the name "crash".
Outcome run_isolated(const Schedule& schedule);

}  // namespace fenix_simulation
