// SPDX-License-Identifier: BSD-3-Clause
// A rank dies, and the others revoke many communicators and agree. Shows whether messages of the recovery are lost, or crash, when there are
// more of them under way than MPI has descriptors. Knows nothing of Fenix: it tests Open MPI. README.md has what was seen.
//
// usage, after ". scripts/env.sh":
//   build:  mpicxx -std=c++20 -O2 -o many_revoked tests/open_mpi/many_revoked.cpp
//   run:    timeout -s KILL 60 mpirun --with-ft ulfm -n 4 ./many_revoked 600
// Prints "ok" on all ranks but 1, or crashes after lines "bml_base_alloc failed", or hangs.
#include <cstdio>
#include <cstdlib>
#include <mpi.h>
#include <signal.h>
#include <vector>
#include <mpi-ext.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::vector<MPI_Comm> comms(argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 600);
  for (MPI_Comm& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  if (rank == 1) raise(SIGKILL);
  MPI_Barrier(MPI_COMM_WORLD);
  for (MPI_Comm comm : comms) MPIX_Comm_revoke(comm);
  for (int i = 0; i < 3; ++i) {
    int flags = -1;
    MPIX_Comm_agree(MPI_COMM_WORLD, &flags);
  }
  MPI_Comm living = MPI_COMM_NULL;
  MPIX_Comm_shrink(MPI_COMM_WORLD, &living);
  int revoked = 0;
  for (MPI_Comm comm : comms) {
    // A barrier of the living would tell when all messages have come: each rank has revoked all by itself, too.
    int flag = 0;
    MPIX_Comm_is_revoked(comm, &flag);
    revoked += flag;
  }
  MPI_Barrier(living);
  std::printf("rank %d: %s, %d revoked\n", rank, revoked == static_cast<int>(comms.size()) ? "ok" : "WRONG", revoked);
  std::fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 0);
}
