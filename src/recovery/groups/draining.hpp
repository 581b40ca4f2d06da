// SPDX-License-Identifier: BSD-3-Clause
// The way of the last commits of a job that has died to the store, if the job is not to go on now: FENIX_DRAIN.
#pragma once

#include "recovery/groups/group_registry.hpp"
#include "recovery/groups/storage/storage.hpp"
#include "recovery/process/process.hpp"

namespace fenix_impl {

/// Takes up all groups of which the keepers have the memory, rebuilds what is lost, and writes the latest commit of each, unless the
/// store has it already. Collective over the resilient communicator. Throws Error if the latest commit of some group is not in the
/// store then, or if there is no memory: the keepers still have all of it. Throws as GroupRegistry::create().
void drain(const Process& process, TeamFactory& teams, GroupRegistry& groups, Storage& storage);

}  // namespace fenix_impl
