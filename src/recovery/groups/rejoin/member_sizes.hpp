// SPDX-License-Identifier: BSD-3-Clause
// Agreement on the members of a group, and on how much each rank has of them, when the group is taken up again.
#pragma once

#include "core/group.hpp"

namespace fenix_impl {

/// Gives all ranks the members that the rank source knows. Collective. Members are in its order, so that work on one
/// member after the other meets its counterpart on the other ranks. Each rank tells its own sizes; a rank that does not
/// know them is told by its witnesses. A member is dropped if no rank knows how much some rank has of it, or if a rank
/// has deleted it.
void agree_on_members(Team& team, Group& group, int source);

}  // namespace fenix_impl
