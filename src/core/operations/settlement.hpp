// SPDX-License-Identifier: BSD-3-Clause
// Settling commits in place that a failure has cut short, before the application gets control: they count on all ranks, or on none.
// The reasons are in docs/design/redundancy.md, "Commits in place".
#pragma once

#include <span>

#include "core/state/group_data.hpp"
#include "rma/team.hpp"

namespace fenix_impl {

/// Settles the pending commits of groups. Collective over a team that has all living ranks of the groups; the others bring no group.
/// The groups are detached, and have had a team. Throws as Team does: then the pending commits still are, and it must be called again
/// before the application gets control.
void settle_commits(Team& team, std::span<GroupData* const> groups);

}  // namespace fenix_impl
