// SPDX-License-Identifier: BSD-3-Clause
// A spawned process dies a second after MPI_Init, and its parent is not told: a receive from it does not end.
// mpirun --with-ft ulfm -n 1 untold_death
#include <mpi.h>
#include <signal.h>
#include <unistd.h>
#include <mpi-ext.h>

#include <cstdio>

namespace {

constexpr int kTimes = 10;
constexpr double kPatience = 4;  // seconds

/// Whether a receive from the child ends.
bool is_told(MPI_Comm child) {
  char word = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  if (MPI_Irecv(&word, 1, MPI_BYTE, 0, 0, child, &request) != MPI_SUCCESS) return true;
  for (const double begin = MPI_Wtime(); MPI_Wtime() - begin < kPatience; usleep(1000)) {
    int done = 0;
    if (MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return true;
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm parent = MPI_COMM_NULL;
  MPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL) {
    sleep(1);
    raise(SIGKILL);
  }
  int told = 0;
  for (int i = 0; i < kTimes; ++i) {
    MPI_Comm child = MPI_COMM_NULL;
    MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &child, MPI_ERRCODES_IGNORE);
    MPI_Comm_set_errhandler(child, MPI_ERRORS_RETURN);
    if (is_told(child)) ++told;
  }
  std::printf("told of %d deaths of %d\n", told, kTimes);
  std::fflush(stdout);
  _exit(0);
}
