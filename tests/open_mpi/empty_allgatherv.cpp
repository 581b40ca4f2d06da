// SPDX-License-Identifier: BSD-3-Clause
// Rank 0 dies instead of calling MPI_Allgatherv. The others get MPI_SUCCESS, and no data; a barrier after it fails.
// mpirun --with-ft ulfm -n 6 empty_allgatherv
#include <mpi.h>
#include <signal.h>
#include <unistd.h>
#include <mpi-ext.h>

#include <cstdio>
#include <numeric>
#include <vector>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    usleep(300'000);
    raise(SIGKILL);
  }
  constexpr int kEach = 7;
  const std::vector<int> own(kEach, rank + 1);
  const std::vector<int> counts(static_cast<std::size_t>(size), kEach);
  std::vector<int> places(static_cast<std::size_t>(size));
  for (int i = 0; i < size; ++i) places[static_cast<std::size_t>(i)] = i * kEach;
  std::vector<int> all(static_cast<std::size_t>(size * kEach));
  const int error =
      MPI_Allgatherv(own.data(), kEach, MPI_INT, all.data(), counts.data(), places.data(), MPI_INT, MPI_COMM_WORLD);
  const int after = MPI_Barrier(MPI_COMM_WORLD);
  std::printf("rank %d: error %d, sum of what it got %d, error of the barrier %d\n", rank, error,
              std::accumulate(all.begin(), all.end(), 0), after);
  std::fflush(stdout);
  _exit(0);
}
