// SPDX-License-Identifier: BSD-3-Clause
// Abilities of the launcher that has started this process.
#pragma once

namespace fenix_impl {

/// True if the job goes on when a node is lost with the launcher's daemon that runs there. It does so under the mpirun of
/// scripts/bootstrap, which says so in the environment of each process, and under that of Open MPI 6 or later.
[[nodiscard]] bool launcher_survives_loss_of_node();

}  // namespace fenix_impl
