// SPDX-License-Identifier: BSD-3-Clause
// A copy of a communicator fails because a rank has died. Shows whether communicators can be made afterwards from one with a higher
// number. Knows nothing of Fenix: it tests Open MPI. README.md has what was seen.
//
// usage, after ". scripts/env.sh":
//   build:  mpicxx -std=c++20 -O2 -o failed_dup tests/open_mpi/failed_dup.cpp
//   run:    timeout -s KILL 20 mpirun --with-ft ulfm -n 3 ./failed_dup
// Prints "ok" on ranks 0 and 2, or hangs.
#include <cstdio>
#include <mpi.h>
#include <signal.h>
#include <mpi-ext.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm low, high, copy, living;
  MPI_Comm_dup(MPI_COMM_WORLD, &low);
  MPI_Comm_dup(MPI_COMM_WORLD, &high);
  if (rank == 1) raise(SIGKILL);
  while (MPI_Comm_dup(low, &copy) == MPI_SUCCESS) {
  }
  MPIX_Comm_revoke(low);
  MPIX_Comm_shrink(high, &living);
  std::printf("rank %d: ok\n", rank);
  std::fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 0);
}
