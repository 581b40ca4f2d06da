// SPDX-License-Identifier: BSD-3-Clause
// A rank has died, and the others write to a file together. Shows that a survivor crashes: a floating point exception or a segmentation
// fault in mca_fcoll_vulcan_file_write_all. Knows nothing of Fenix: it tests Open MPI. README.md has what was seen.
//
// usage, after ". scripts/env.sh":
//   build:  mpicxx -std=c++20 -O2 -o file_death tests/open_mpi/file_death.cpp
//   run:    timeout -s KILL 60 mpirun --with-ft ulfm -n 4 ./file_death FILE
#include <mpi.h>
#include <signal.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_File file;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) raise(SIGKILL);
  MPI_File_write_at_all(file, 4 * rank, &rank, 1, MPI_INT, MPI_STATUS_IGNORE);  // crashes
  return 0;
}
