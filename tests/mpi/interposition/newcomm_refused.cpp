// SPDX-License-Identifier: BSD-3-Clause
// Without libfenix_mpi, newcomm may not be NULL: all ranks are told, and Fenix can be used afterwards.
#include <cstring>

#include "../check.hpp"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int role = -1;
  int error = -1;
  Fenix_Init(&role, MPI_COMM_WORLD, nullptr, &argc, &argv, 0, &error);
  check::expect_equal(error, FENIX_ERROR_INVALID_ARGUMENT, "error of Fenix_Init");
  check::require(std::strstr(Fenix_Error_message(), "newcomm") != nullptr, "the text does not name newcomm");
  check::require(std::strstr(Fenix_Error_message(), "libfenix_mpi") != nullptr, "the text does not name the library");
  static MPI_Comm comm = MPI_COMM_NULL;
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 0, &error);
  check::success(error, "Fenix_Init with newcomm");
  int rank = -1;
  MPI_Comm_rank(comm, &rank);
  check::success(Fenix_Finalize(), "Fenix_Finalize");
  check::ok(rank);
  MPI_Finalize();
  return 0;
}
