// SPDX-License-Identifier: BSD-3-Clause
// Groups of processes that the program keeps: members that have died stand for the processes that took their places.
#pragma once

#include <mpi.h>

#include <vector>

namespace fenix_impl {

/// Returns the group with each dead member replaced by its successor, or the group itself if nobody in it has been replaced.
/// Members without successor are left out.
[[nodiscard]] MPI_Group current(MPI_Group group);
/// Frees a group that current() has made of another one.
void release(MPI_Group made, MPI_Group of);

/// Notes that a repair has put the communicator after in the place of before. next: for each rank of before its rank in after, or -1.
void note_succession(MPI_Comm before, MPI_Comm after, std::vector<int> next);

}  // namespace fenix_impl
