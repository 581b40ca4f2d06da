// SPDX-License-Identifier: BSD-3-Clause
// Runs of schedules that may crash.
#pragma once

#include "run.hpp"

namespace fenix_simulation {

/// Runs a schedule in a process of its own. A crash is a broken promise of the name "crash".
Verdict run_isolated(const Schedule& schedule);

}  // namespace fenix_simulation
