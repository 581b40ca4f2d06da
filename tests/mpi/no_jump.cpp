// SPDX-License-Identifier: BSD-3-Clause
// Fenix_Init_no_jump, as a language without macros calls it: the default mode "jump" is "return" until Fenix_Finalize.
// 3 active ranks and 1 spare; rank 1 dies.
#include <csignal>

#include "check.hpp"

using check::expect_equal;
using check::require;
using check::success;

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  static int role = -1;
  static int error = -1;
  static MPI_Comm comm = MPI_COMM_NULL;
  unsigned mode = 99;
  expect_equal(Fenix_Init_no_jump(&role, MPI_COMM_WORLD, nullptr, nullptr, nullptr, 1, 0, MPI_INFO_NULL, &error),
               FENIX_ERROR_INVALID_ARGUMENT, "Fenix_Init_no_jump without newcomm");
  expect_equal(error, FENIX_ERROR_INVALID_ARGUMENT, "error without newcomm");
  success(Fenix_Init_no_jump(&role, MPI_COMM_WORLD, &comm, nullptr, nullptr, 1, 0, MPI_INFO_NULL, &error), "no_jump");
  success(error, "error");
  success(Fenix_get_option(FENIX_RESUME_MODE, &mode), "get_option");
  expect_equal(mode, FENIX_RESUME_RETURN, "resume mode in use");
  expect_equal(Fenix_set_option(FENIX_RESUME_MODE, FENIX_RESUME_JUMP), FENIX_ERROR_INVALID_SETTING_OPTION,
               "resume mode jump without a place to jump to");
  success(Fenix_get_option(FENIX_RESUME_MODE, &mode), "get_option");
  expect_equal(mode, FENIX_RESUME_RETURN, "resume mode after a refusal");
  int rank = -1;
  MPI_Comm_rank(comm, &rank);
  if (role == FENIX_ROLE_INITIAL_RANK) {
    MPI_Barrier(comm);
    if (rank == 1) raise(SIGKILL);
    require(MPI_Barrier(comm) != MPI_SUCCESS, "a barrier without rank 1 does not fail");
    expect_equal(role, FENIX_ROLE_SURVIVOR_RANK, "role after the repair");
  } else {
    expect_equal(role, FENIX_ROLE_RECOVERED_RANK, "role of the former spare");
  }
  success(MPI_Barrier(comm), "MPI_Barrier on the communicator that was written again");
  success(Fenix_Finalize(), "Fenix_Finalize");
  success(Fenix_get_option(FENIX_RESUME_MODE, &mode), "get_option");
  expect_equal(mode, FENIX_RESUME_JUMP, "resume mode after Fenix_Finalize");
  check::ok(rank);
  MPI_Finalize();
  return 0;
}
