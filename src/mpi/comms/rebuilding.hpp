// SPDX-License-Identifier: BSD-3-Clause
// The derived communicators in a repair.
#pragma once

#include <mpi.h>

namespace fenix_impl {

/// Makes all derived communicators anew on a new resilient one, as Interposer::rebuild says.
int rebuild_derived(MPI_Comm resilient, const int* former, const bool* recovered);

/// Lets the names stand for what rebuild_derived() has made, as Interposer::adopt says.
void adopt_derived(MPI_Comm resilient, MPI_Errhandler handler);

}  // namespace fenix_impl
