// SPDX-License-Identifier: BSD-3-Clause
// A rank dies inside Fenix_Init (FENIX_FAULT): the others get an error, spares too, and nobody waits for ever.
#include "check.hpp"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm comm = MPI_COMM_WORLD;
  int role = -1;
  int error = 0;
  int initialized = 1;
  int rank = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 1, &error);
  check::expect_equal(error, FENIX_ERROR_NOCATEGORY, "error of Fenix_Init");
  check::require(comm == MPI_COMM_NULL, "newcomm is not MPI_COMM_NULL");
  check::success(Fenix_Initialized(&initialized), "Fenix_Initialized");
  check::expect_equal(initialized, 0, "initialized");
  check::ok(rank);
  MPI_Finalize();
  return 0;
}
