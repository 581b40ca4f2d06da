// SPDX-License-Identifier: BSD-3-Clause
// A window is left at MPI_Finalize, to which one rank comes 3 s later. Shows that the others wait there for the ranks of the window. A rank
// that has no such window, because making it failed there, never comes. Knows nothing of Fenix: it tests Open MPI.
//
// usage, after ". scripts/env.sh":
//   build:  mpicxx -std=c++20 -O2 -o window_finalize tests/open_mpi/window_finalize.cpp
//   run:    timeout -s KILL 60 mpirun -n 3 ./window_finalize       # with --with-ft ulfm all ranks meet once before
// Ranks 0 and 2 print 3 s, and 0 s with the Open MPI that scripts/bootstrap builds.
#include <cstdio>
#include <ctime>
#include <mpi.h>
#include <unistd.h>

static char memory[4096];

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Win window;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Win_create(memory, 4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  if (rank == 1) sleep(3);
  const time_t begin = time(nullptr);
  MPI_Finalize();
  std::printf("rank %d: MPI_Finalize took %ld s\n", rank, (long)(time(nullptr) - begin));
}
