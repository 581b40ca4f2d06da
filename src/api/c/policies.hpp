// SPDX-License-Identifier: BSD-3-Clause
// Policies in the form of the interface: FENIX_DATA_POLICY_… and an array of ints.
#pragma once

#include "parity/placement.hpp"

namespace fenix_impl {

/// Converts the form of the interface into a policy, with defaults if values is null. check_policy() checks the values.
[[nodiscard]] Policy policy_from(int name, const int* values);

/// Checks a policy for a communicator of this size. Throws Error(FENIX_ERROR_INVALID_POLICY_NAME or _POLICY_VALUE).
void check_policy(int name, const int* values, int ranks);

/// Returns the name of a policy, and writes the values in use: at most 3.
int policy_to(const Policy& policy, const Placement& placement, int* values);

}  // namespace fenix_impl
