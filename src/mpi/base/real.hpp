// SPDX-License-Identifier: BSD-3-Clause
// The functions that this library replaces, as MPI itself has them.
#pragma once

#include <fenix_mpi/functions.h>

namespace fenix_impl {

/// MPI's functions. Filled when the library is loaded.
[[gnu::visibility("hidden")]] extern fenix_mpi_functions real;

/// Says whether the program's calls come to this library: not if it was linked after MPI.
[[nodiscard]] bool is_in_front();

/// Whether several threads of the program may call MPI at the same time. From MPI_Init on.
[[nodiscard]] bool calls_may_overlap();

}  // namespace fenix_impl
