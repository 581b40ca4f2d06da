// SPDX-License-Identifier: BSD-3-Clause
// Files of MPI's windows that a process leaves when it, or a peer, is killed while a window is made.
#pragma once

#include <sys/types.h>

#include <string>

namespace fenix_impl {

/// Removes those of a process that has ended, or makes no windows any more. Open MPI's osc/rdma makes one per window and node, and removes it a moment later.
/// Only of this process's user; best effort.
void remove_window_files(pid_t ended, const std::string& folder = "/dev/shm") noexcept;

}  // namespace fenix_impl
