// SPDX-License-Identifier: BSD-3-Clause
// The functions that make communicators, for functions of this library that do so too.
#pragma once

#include <mpi.h>

namespace fenix_impl {

/// Does what MPI_Comm_dup does, for a caller at this address in the program.
int duplicate(MPI_Comm comm, const void* caller, MPI_Comm* newcomm);

}  // namespace fenix_impl
