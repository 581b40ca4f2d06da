// SPDX-License-Identifier: BSD-3-Clause
// Fault points of the program, by number.
#pragma once

#include <string_view>

namespace fenix_simulation {

/// Returns the number of a point: its place in the list of the sources, the same in each process of the simulator.
int number_of_point(std::string_view name);
std::string_view name_of_point(int number);

}  // namespace fenix_simulation
