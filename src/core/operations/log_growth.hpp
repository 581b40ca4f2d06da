// SPDX-License-Identifier: BSD-3-Clause
// Growth of the log where all snapshots are kept.
#pragma once

#include "core/parts/operation_context.hpp"

namespace fenix_impl {

/// Gives the log more entries if that of some rank is full. All ranks get to know if one of them cannot commit. Collective.
void grow_log_if_full(const OperationContext& context);

}  // namespace fenix_impl
