// SPDX-License-Identifier: BSD-3-Clause
// Deaths that a policy covers, by its definition in the pages. Nothing of the library is used.
#pragma once

#include <set>
#include <vector>

#include "workload.hpp"

namespace fenix_simulation {

/// Returns the rank that has the copy of each rank's data.
std::vector<int> holders(const GroupPlan& group, int ranks);
std::vector<std::vector<int>> cohorts(const GroupPlan& group, int ranks);
/// Returns whether nothing is lost if these ranks of so many are dead at the same time.
bool covers(const GroupPlan& group, int ranks, const std::set<int>& dead);

}  // namespace fenix_simulation
