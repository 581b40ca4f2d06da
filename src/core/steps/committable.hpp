// SPDX-License-Identifier: BSD-3-Clause
// The conditions under which this rank can commit.
#pragma once

#include "core/state/operation_context.hpp"

namespace fenix_impl {

/// Throws Error if a request is pending or has failed, if a member is open or has been staged and not stored, or if the time stamps
/// are used up. Local.
void check_committable(const OperationContext& context);

}  // namespace fenix_impl
