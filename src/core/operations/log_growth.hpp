// SPDX-License-Identifier: BSD-3-Clause
// Growth of the log where all snapshots are kept.
#pragma once

#include <functional>

#include "core/state/operation_context.hpp"

namespace fenix_impl {

/// Gives the log more entries if that of some rank is full. All ranks get to know if one of them cannot commit. Collective.
void grow_log_if_full(const OperationContext& context);
/// Runs a store that can fail on this rank alone, before grow_log_if_full() of all ranks: if it fails, the others get its error
/// there.
void run_before_growth(const OperationContext& context, const std::function<void()>& store);

}  // namespace fenix_impl
