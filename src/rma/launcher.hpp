// SPDX-License-Identifier: BSD-3-Clause
// Abilities of the launcher that has started this process.
#pragma once

#include <string>

namespace fenix_impl {

/// True if the job goes on when a node is lost with the launcher's daemon that runs there. It does so under the mpirun of
/// scripts/bootstrap, which says so in the environment of each process, and under that of Open MPI 6 or later.
[[nodiscard]] bool launcher_survives_loss_of_node();

/// Returns how the launcher ends the job at a death or, if it runs on several nodes, at the loss of one; empty if it goes on.
[[nodiscard]] std::string weakness_of_launcher(bool several_nodes);

}  // namespace fenix_impl
