// SPDX-License-Identifier: BSD-3-Clause
// Runs of many ranks with the costs of a machine in place of random delays: what each phase counts, and how long it takes.
#pragma once

#include <string>
#include <vector>

namespace fenix_simulation {

/// Does what the words after --scale ask for. Returns the status of the command.
int run_scale(const std::vector<std::string>& words);

}  // namespace fenix_simulation
