// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/types.h>

namespace fenix_impl {

/// Returns the state of a process of this node as a letter of ps: T and t if it is stopped, Z if only its parent has to hear of its end; ? if
/// there is none.
[[nodiscard]] char process_state(pid_t pid);

/// Whether a process of this node has to end, as SIGKILL was sent to it, and has not ended yet: it may wait for a file system.
[[nodiscard]] bool is_killed(pid_t pid);

}  // namespace fenix_impl
