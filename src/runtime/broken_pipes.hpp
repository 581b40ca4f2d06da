// SPDX-License-Identifier: BSD-3-Clause
// SIGPIPE would end this process: Open MPI's TCP component writes to sockets of processes that have died.
#pragma once

namespace fenix_impl {

/// Lets only the write fail. A handler of the application stays. Local.
void survive_broken_pipes();
/// Takes that back. Local.
void die_of_broken_pipes();

}  // namespace fenix_impl
