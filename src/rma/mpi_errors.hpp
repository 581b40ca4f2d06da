// SPDX-License-Identifier: BSD-3-Clause
// The meaning of errors of MPI: failures of other ranks, and all others.
#pragma once

namespace fenix_impl {

/// True for the MPI error classes that tell of a dead rank or a revoked communicator.
[[nodiscard]] bool is_failure(int mpi_error);

/// Returns whether the error may come from a death of which Open MPI has not told yet.
[[nodiscard]] bool is_vague(int mpi_error);

/// Throws PeerFailure for a failure, MpiError naming the call for another error.
void check_mpi(int mpi_error, const char* call);

}  // namespace fenix_impl
