// SPDX-License-Identifier: BSD-3-Clause
// Fault points of the program, by number.
#pragma once

#include <string>
#include <vector>

namespace fenix_simulation {

/// Returns the number of a point, which is the same as long as this process of the simulator lives.
int number_of_point(const char* name);
/// Names of all points that were ever asked for.
const std::vector<std::string>& names_of_points();

}  // namespace fenix_simulation
