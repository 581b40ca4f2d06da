// SPDX-License-Identifier: BSD-3-Clause
// Two of three ranks begin a partitioned message. Shows that they wait for the third one, which knows nothing of it. Knows nothing of Fenix: it
// tests Open MPI. README.md has what was seen.
//
// usage, after ". scripts/env.sh":
//   build:  mpicxx -std=c++20 -O2 -o partitioned_begin tests/open_mpi/partitioned_begin.cpp
//   run:    timeout -s KILL 20 mpirun -n 3 ./partitioned_begin
// Prints "done" on ranks 0 and 1, or hangs.
#include <cstdio>
#include <mpi.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, value = 0;
  MPI_Comm some;
  MPI_Request request;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, rank < 2, rank, &some);
  if (rank == 0) MPI_Psend_init(&value, 1, 1, MPI_INT, 1, 0, some, MPI_INFO_NULL, &request);
  if (rank == 1) MPI_Precv_init(&value, 1, 1, MPI_INT, 0, 0, some, MPI_INFO_NULL, &request);
  if (rank < 2) {
    MPI_Start(&request);
    if (rank == 0) MPI_Pready(0, request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);  // rank 2 knows nothing of this
    std::printf("rank %d is done\n", rank);
  }
  if (rank == 0) MPI_Send(&value, 1, MPI_INT, 2, 1, MPI_COMM_WORLD);
  if (rank == 2) MPI_Recv(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
