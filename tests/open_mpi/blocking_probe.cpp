// SPDX-License-Identifier: BSD-3-Clause
// A loop of probes finds a message that is not received yet. Shows that a large message of another rank does not move meanwhile. Knows nothing
// of Fenix: it tests Open MPI. README.md has what was seen.
//
// usage, after ". scripts/env.sh":
//   build:  mpicxx -std=c++20 -O2 -o blocking_probe tests/open_mpi/blocking_probe.cpp
//   run:    timeout -s KILL 60 mpirun --with-ft ulfm -n 3 ./blocking_probe
// Rank 2 prints "sent after 2.5 s"; with a tag that no message has in the marked line it prints 0.0 s.
#include <cstdio>
#include <mpi.h>
#include <unistd.h>

static char large[1 << 24];

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, found = 0, number = 0;
  MPI_Request request;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 1) MPI_Send(&number, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
  if (rank == 2) {
    usleep(500000);
    const double start = MPI_Wtime();
    MPI_Send(large, 1 << 24, MPI_BYTE, 0, 5, MPI_COMM_WORLD);
    std::printf("sent after %.1f s\n", MPI_Wtime() - start);
  }
  if (rank == 0) {
    MPI_Irecv(large, 1 << 24, MPI_BYTE, 2, 5, MPI_COMM_WORLD, &request);
    while (!found) MPI_Iprobe(1, 2, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    for (const double start = MPI_Wtime(); MPI_Wtime() - start < 3;) {
      MPI_Iprobe(MPI_ANY_SOURCE, /* here: */ 2, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Recv(&number, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return 0;
}
