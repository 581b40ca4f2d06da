// SPDX-License-Identifier: BSD-3-Clause
// Which snapshots are left after a failure: pure functions over what the ranks report.
#pragma once

#include <optional>
#include <vector>

#include "base/types.hpp"

namespace fenix_impl {

/// The epochs that one rank committed, oldest first; nullopt if that cannot be found out any more.
using CommittedEpochs = std::optional<std::vector<Epoch>>;

/// The epochs that all ranks committed, from the newest one down to depth before it. Oldest first.
[[nodiscard]] std::vector<Epoch> consistent_epochs(const std::vector<CommittedEpochs>& ranks, int depth);

}  // namespace fenix_impl
