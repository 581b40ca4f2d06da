// SPDX-License-Identifier: BSD-3-Clause
// Ranks die before Fenix_Init, or in it (FENIX_FAULT): spares take their places, or the communicator begins smaller.
// usage: early_death SPARES ACTIVE_AT_THE_END [RANK THAT DIES BEFORE Fenix_Init …]
#include <mpi.h>
#include <mpi-ext.h>

#include <csignal>
#include <cstdlib>
#include <string>
#include <vector>

#include "check.hpp"

using check::expect_equal;
using check::require;
using check::success;

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int spares = std::atoi(argv[1]);
  const int active = std::atoi(argv[2]);
  int world = 0;
  static int first_rank = -1;
  MPI_Comm_size(MPI_COMM_WORLD, &world);
  MPI_Comm_rank(MPI_COMM_WORLD, &first_rank);
  int all = 1;
  MPIX_Comm_agree(MPI_COMM_WORLD, &all);  // all have left MPI_Init
  for (int i = 3; i < argc; ++i) {
    if (std::atoi(argv[i]) == first_rank) raise(SIGKILL);
  }
  static MPI_Comm comm = MPI_COMM_NULL;
  static int role = -1;
  static int error = 99;
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, spares, &error);
  const bool shrunk = active < world - spares;
  expect_equal(error, shrunk ? FENIX_WARNING_SPARE_RANKS_DEPLETED : FENIX_SUCCESS, "error of Fenix_Init");
  expect_equal(role, FENIX_ROLE_INITIAL_RANK, "role");
  int size = 0;
  int rank = -1;
  MPI_Comm_size(comm, &size);
  MPI_Comm_rank(comm, &rank);
  expect_equal(size, active, "active ranks");
  require(fenix::fail_list().empty(), "the list of failed ranks is not empty");
  expect_equal(fenix::n_ranks_with_role(fenix::MISSING_RANK), world - spares - active, "missing ranks");
  if (!shrunk && first_rank < world - spares) expect_equal(rank, first_rank, "own number");
  if (first_rank < world - spares) expect_equal(fenix::slot(), first_rank, "own slot");
  int sum = 0;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  expect_equal(sum, active * (active - 1) / 2, "sum of the ranks");
  // The communicator of the application stays usable among the living.
  int revoked = 1;
  MPIX_Comm_is_revoked(MPI_COMM_WORLD, &revoked);
  expect_equal(revoked, 0, "MPI_COMM_WORLD is revoked");
  success(Fenix_Finalize(), "Fenix_Finalize");
  check::ok(rank);
  MPI_Finalize();
  return 0;
}
