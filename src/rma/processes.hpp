// SPDX-License-Identifier: BSD-3-Clause
// The system's knowledge about processes.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "base/location.hpp"

namespace fenix_impl {

/// The same in two processes if they see the same kernel and the same process ids: then they can map each other's regions.
[[nodiscard]] std::uint64_t node_id();

/// Where this process runs: its node by the name that it has and the kernel that runs there, its domain by FENIX_FAILURE_DOMAIN.
[[nodiscard]] Location this_location();

/// Process that has started the ranks of this job on this node: its launcher, as far as that has a known name, or the parent.
[[nodiscard]] pid_t launcher_of_this_process();

/// True if a process of this node has ended, whether or not its parent knows.
[[nodiscard]] bool is_gone(pid_t pid);
/// True if a process of this node is stopped, by a signal or a debugger.
[[nodiscard]] bool is_stopped(pid_t pid);

}  // namespace fenix_impl
