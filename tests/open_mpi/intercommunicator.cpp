// SPDX-License-Identifier: BSD-3-Clause
// Makes an intercommunicator under fault tolerance. Shows that Open MPI 6.0.0 rc 2 has none there. Knows nothing of Fenix: it tests Open MPI.
//
// usage, after ". scripts/env.sh":
//   build:  mpicxx -std=c++20 -O2 -o intercommunicator tests/open_mpi/intercommunicator.cpp
//   run:    timeout -s KILL 60 mpirun --with-ft ulfm -n 4 ./intercommunicator
// Prints four lines, or ends with "none of them said that they could be used for iagree on a new communicator".
#include <cstdio>
#include <mpi.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm half, other;
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 5, &other);
  std::printf("rank %d\n", rank);
  MPI_Finalize();
  return 0;
}
