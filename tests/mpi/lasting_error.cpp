// SPDX-License-Identifier: BSD-3-Clause
// Errors during a repair that are no deaths, from FENIX_FAULT: one that does not go away ends the job, and one that does is nothing to the
// program. 3 active ranks and 1 spare; rank 1 dies.
#include <csignal>

#include "check.hpp"

namespace {

using check::success;

MPI_Comm comm = MPI_COMM_NULL;
int role = -1;
int error = -1;
int rank = -1;

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 1, &error);
  success(error, "Fenix_Init");
  MPI_Comm_rank(comm, &rank);
  if (role == FENIX_ROLE_INITIAL_RANK) {
    MPI_Barrier(comm);
    if (rank == 1) raise(SIGKILL);
    while (true) MPI_Barrier(comm);
  }
  int sum = 0;
  success(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm), "MPI_Allreduce");
  check::expect_equal(sum, 3, "sum of the ranks");
  success(Fenix_Finalize(), "Fenix_Finalize");
  check::ok(rank);
  MPI_Finalize();
  return 0;
}
