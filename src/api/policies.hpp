// SPDX-License-Identifier: BSD-3-Clause
// Policies as the interface names them: FENIX_DATA_POLICY_… and an array of ints.
#pragma once

#include "parity/placement.hpp"

namespace fenix_impl {

/// With defaults where values is null. Whether they are good check_policy tells.
[[nodiscard]] Policy policy_from(int name, const int* values);

/// Throws Error(FENIX_ERROR_INVALID_POLICY_NAME or _POLICY_VALUE).
void check_policy(int name, const int* values, int ranks);

/// Returns the name, and writes the values that are in force: at most 3.
int policy_to(const Policy& policy, const Placement& placement, int* values);

}  // namespace fenix_impl
