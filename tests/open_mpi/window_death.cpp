// SPDX-License-Identifier: BSD-3-Clause
// A rank has died, and the others make a window. Shows that they crash (null communicator in ompi_osc_rdma_free), unless Open MPI has been
// mended. Knows nothing of Fenix: it tests Open MPI. README.md has what was seen.
//
// usage, after ". scripts/env.sh":
//   build:  mpicxx -std=c++20 -O2 -o window_death tests/open_mpi/window_death.cpp
//   run:    timeout -s KILL 60 mpirun --with-ft ulfm -n 4 ./window_death
#include <cstdlib>
#include <mpi.h>
#include <signal.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Win window;
  void* memory = std::malloc(4096);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 1) raise(SIGKILL);
  MPI_Win_create(memory, 4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);  // segmentation fault in ranks 0, 2, 3
  return 0;
}
