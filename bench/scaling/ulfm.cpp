// SPDX-License-Identifier: BSD-3-Clause
// The steps of a repair that are MPI's, without the library. usage: scaling_ulfm DEATHS. Prints JSON: seconds of the slowest rank.
#include <mpi.h>
#include <mpi-ext.h>

#include <array>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  const int deaths = argc == 2 ? std::atoi(argv[1]) : 0;
  if (deaths < 1) {
    std::fprintf(stderr, "usage: scaling_ulfm DEATHS\n");
    return 2;
  }
  MPI_Init(&argc, &argv);
  MPI_Comm world = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &world);
  MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &size);
  MPI_Barrier(world);
  if (rank >= 1 && rank <= deaths) std::raise(SIGKILL);
  while (MPI_Barrier(world) == MPI_SUCCESS) {
  }

  constexpr std::array kSteps{"revoke", "agree", "shrink", "dup", "split", "agree_again"};
  std::array<double, kSteps.size()> seconds{};
  std::size_t step = 0;
  double before = MPI_Wtime();
  const auto done = [&] {
    const double now = MPI_Wtime();
    seconds.at(step++) = now - before;
    before = now;
  };
  int flag = 1;
  MPI_Comm living = MPI_COMM_NULL;
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Comm part = MPI_COMM_NULL;
  MPIX_Comm_revoke(world);
  done();
  MPIX_Comm_agree(world, &flag);
  done();
  MPIX_Comm_shrink(world, &living);
  done();
  MPI_Comm_dup(living, &copy);
  done();
  MPI_Comm_split(living, 0, rank, &part);
  done();
  flag = 1;
  MPIX_Comm_agree(living, &flag);
  done();

  std::array<double, kSteps.size()> slowest{};
  MPI_Reduce(seconds.data(), slowest.data(), static_cast<int>(kSteps.size()), MPI_DOUBLE, MPI_MAX, 0, living);
  if (rank == 0) {
    std::printf("{\"processes\": %d, \"deaths\": %d, \"phase\": \"ulfm\"", size, deaths);
    for (std::size_t i = 0; i < kSteps.size(); ++i) std::printf(", \"%s\": %.9f", kSteps[i], slowest[i]);
    std::printf("}\n");
    std::fflush(stdout);
  }
  MPI_Finalize();
  return EXIT_SUCCESS;
}
