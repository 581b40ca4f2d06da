// SPDX-License-Identifier: BSD-3-Clause
// The C++ interface without a place for the resilient communicator: MPI_COMM_WORLD is it. Rank 1 of 3 dies, and a spare replaces it.
#include <csignal>

#include "../check.hpp"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  static int role = -1;
  static int error = -1;
  fenix::args::FenixInitArgs arguments;
  arguments.role = &role;
  arguments.spares = 1;
  arguments.err = &error;
  fenix::init(arguments);
  check::success(error, "fenix::init");
  int rank = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  bool repaired = role != FENIX_ROLE_INITIAL_RANK;
  for (bool done = false; !done;) {
    try {
      if (!repaired && rank == 1) raise(SIGKILL);
      int sum = 0;
      MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      check::expect_equal(sum, 3, "sum of the ranks");
      done = true;
    } catch (const fenix::CommException& exception) {
      check::require(exception.repaired_comm == MPI_COMM_WORLD, "the exception has another communicator");
      repaired = true;
    }
  }
  check::require(repaired, "nobody has died");
  check::success(Fenix_Finalize(), "Fenix_Finalize");
  check::ok(rank);
  MPI_Finalize();
  return 0;
}
