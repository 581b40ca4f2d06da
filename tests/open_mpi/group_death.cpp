// SPDX-License-Identifier: BSD-3-Clause
// A rank dies while its group makes a communicator by MPI_Comm_create_group. Shows whether the others ever return from it, when those that
// have got an error revoke the parent. Knows nothing of Fenix: it tests Open MPI. README.md has what was seen.
//
// usage, after ". scripts/env.sh":
//   build:  mpicxx -std=c++20 -O2 -o group_death tests/open_mpi/group_death.cpp
//   run:    timeout -s KILL 20 mpirun --with-ft ulfm -n 5 ./group_death 1         # the rank that dies, before a call
//           timeout -s KILL 20 mpirun --with-ft ulfm -n 4 ./group_death 3 200     # so many microseconds later
// Prints "ok" on the others, or hangs.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mpi.h>
#include <signal.h>
#include <thread>
#include <mpi-ext.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Group all;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Comm made, living;
  int calls = 0;
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int victim = argc > 1 ? std::atoi(argv[1]) : 1;
  const bool is_victim = rank == victim;
  const auto step = [&](int from, int by) {
    const int to = (from + by + size) % size;
    return to == victim ? (to + by + size) % size : to;
  };
  const int next = step(rank, 1), before = step(rank, -1);
  const std::chrono::microseconds after(argc > 2 ? std::atoi(argv[2]) : 0);
  for (;; ++calls) {
    if (calls == 20 && is_victim) {
      if (after.count() == 0) raise(SIGKILL);
      std::thread([after] {
        std::this_thread::sleep_for(after);
        raise(SIGKILL);
      }).detach();
    }
    const int error = MPI_Comm_create_group(MPI_COMM_WORLD, all, 17, &made);
    if (error != MPI_SUCCESS) break;
    // The others wait for each other, and for nobody else: who has the communicator does not hear of the death here.
    if (is_victim) continue;
    int value = calls;
    MPI_Sendrecv_replace(&value, 1, MPI_INT, next, 0, before, 0, made, MPI_STATUS_IGNORE);
  }
  MPIX_Comm_revoke(MPI_COMM_WORLD);
  MPIX_Comm_shrink(MPI_COMM_WORLD, &living);
  MPI_Barrier(living);
  std::printf("rank %d: ok after %d calls\n", rank, calls);
  std::fflush(stdout);
  MPI_Barrier(living);
  MPI_Abort(MPI_COMM_WORLD, 0);
}
