// SPDX-License-Identifier: BSD-3-Clause
// Communicators that the application derived from the resilient one.
#pragma once

#include <mpi.h>

namespace fenix_impl {

/// Revokes all communicators of this process that have the given error handler: those that inherited it. Ranks that wait in
/// a call on one of them for a rank that has left for the repair are freed so. Local.
void revoke_derived(MPI_Errhandler inherited);

}  // namespace fenix_impl
