// SPDX-License-Identifier: BSD-3-Clause
// What MPI itself says about MPI_COMM_WORLD in attributes: MPI_TAG_UB and others. MPI copies them to its duplicates. Here these are made
// from another communicator, which has none.
#pragma once

#include <mpi.h>

namespace fenix_impl {

/// Whether MPI_COMM_WORLD answers for a communicator: itself, the resilient one, and their duplicates. Local.
[[nodiscard]] bool has_those_of_world(MPI_Comm comm);

/// Notes that a communicator is such a duplicate, or is none any more. Local.
void note_duplicate_of_world(MPI_Comm comm, bool is_one);

}  // namespace fenix_impl
