// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace bench {

/// Says what this process does while it waits inside of MPI: "spin", "yield" or "sleep"; "unknown" where MPI does not tell.
/// Open MPI decides it in MPI_Init, by whether the node has more ranks than cores.
std::string waits_of_mpi();

}  // namespace bench
