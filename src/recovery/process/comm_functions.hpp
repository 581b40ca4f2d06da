// SPDX-License-Identifier: BSD-3-Clause
// Small steps with communicators that repairs are made of.
#pragma once

#include <mpi.h>

#include <chrono>
#include <vector>

namespace fenix_impl {

/// Within this time, all ranks know of a repair that has begun.
inline constexpr std::chrono::milliseconds kNoticeTakes{500};

[[nodiscard]] int rank_in(MPI_Comm comm);
[[nodiscard]] bool is_revoked(MPI_Comm comm);
/// Revokes a communicator, unless it is MPI_COMM_NULL or has been revoked. Local.
void revoke(MPI_Comm comm);
/// Frees a communicator, unless it is MPI_COMM_NULL. Collective over comm.
void free_comm(MPI_Comm& comm);
/// Splits as MPI_Comm_split does. Throws MpiError or PeerFailure. Collective over comm.
[[nodiscard]] MPI_Comm split(MPI_Comm comm, int color, int key);
/// Returns the ranks of comm that are known here to be dead. Local.
[[nodiscard]] std::vector<int> known_failed(MPI_Comm comm);
/// Lets MPI make progress, so that it notices deaths. Local.
void make_progress(MPI_Comm comm);
/// Says whether a rank of comm has died or comm has been revoked. Waits up to kNoticeTakes: MPI may have failed with another error
/// before it knew. Local.
[[nodiscard]] bool comes_to_know_failure(MPI_Comm comm);

}  // namespace fenix_impl
