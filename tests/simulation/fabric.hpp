// SPDX-License-Identifier: BSD-3-Clause
// The provider of libfabric that the simulated processes find.
#pragma once

#include <string>

namespace fenix_simulation {

void begin_network();
void end_network();
/// Returns a function of libfabric, or null.
void* find_in_libfabric(const std::string& name);

}  // namespace fenix_simulation
