// SPDX-License-Identifier: BSD-3-Clause
// A copy of a communicator fails on a process that had refused the proposed number, as it has a communicator with that number. Shows whether
// messages on that one still come. Knows nothing of Fenix: it tests Open MPI. README.md has what was seen.
//
// usage, after ". scripts/env.sh":
//   build:  mpicxx -std=c++20 -O2 -o refused_number tests/open_mpi/refused_number.cpp
//   run:    timeout -s KILL 30 mpirun --with-ft ulfm -n 4 ./refused_number TESTS
//   TESTS   calls of MPI_Test by the last rank before it revokes: 3 or 4, so that the second round fails
// Rank 1 prints whether a message to itself came.
#include <cstdio>
#include <cstdlib>
#include <mpi.h>
#include <unistd.h>
#include <mpi-ext.h>

static bool came(MPI_Comm comm) {
  char sent = 1, received = 0;
  MPI_Request receive, send;
  MPI_Irecv(&received, 1, MPI_BYTE, 0, 0, comm, &receive);
  MPI_Isend(&sent, 1, MPI_BYTE, 0, 0, comm, &send);
  int done = 0;
  for (const double begin = MPI_Wtime(); done == 0 && MPI_Wtime() < begin + 2;)
    MPI_Test(&receive, &done, MPI_STATUS_IGNORE);
  return done != 0;
}

int main(int argc, char** argv) {
  const int tests = argc > 1 ? std::atoi(argv[1]) : 3;
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm all, first, own = MPI_COMM_NULL, copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &all);
  // The lowest free number of rank 1 is one less than that of the others, which is taken there.
  MPI_Comm_dup(MPI_COMM_SELF, &first);
  if (rank == 1) {
    MPI_Comm_dup(MPI_COMM_SELF, &own);
    MPI_Comm_free(&first);
  }
  MPI_Barrier(all);
  if (rank == size - 1) {
    MPI_Request request;
    MPI_Comm_idup(all, &copy, &request);
    int done = 0;
    for (int i = 0; i < tests && done == 0; ++i) {
      MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      usleep(20);
    }
  } else {
    MPI_Comm_dup(all, &copy);
  }
  MPIX_Comm_revoke(all);
  if (rank == 1) {
    MPI_Comm more[2];
    for (MPI_Comm& each : more) MPI_Comm_dup(MPI_COMM_SELF, &each);
    std::fprintf(stderr, "the message %s\n", came(own) ? "came" : "NEVER CAME");
  } else {
    sleep(4);
  }
  MPI_Abort(MPI_COMM_WORLD, 0);
}
