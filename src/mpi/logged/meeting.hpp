// SPDX-License-Identifier: BSD-3-Clause
// Meetings of all members of a communicator in which calls of the program go on.
#pragma once

#include <cstdint>
#include <mpi.h>
#include <vector>

namespace fenix_impl {

/// Lets the program's calls that are under way go on until all members of a communicator are here. words: as many on each; in the end, their bitwise
/// AND over all members. Its messages are not logged. Returns an error of MPI.
int meet(MPI_Comm comm, std::vector<std::uint64_t>& words);
/// Finds the greatest of the values of all ranks by messages that are logged. Control may leave it.
int greatest_of_all(int value, int* greatest, MPI_Comm comm);

}  // namespace fenix_impl
