// SPDX-License-Identifier: BSD-3-Clause
// <fenix/spec.h>: callbacks are called in the order of registration, with the error of Fenix_Init. MPI errors that are no
// failures are returned. 4 ranks, one of them spare; rank 1 dies, and rank 2 without a spare.
#include <fenix/spec.h>

#include <csignal>
#include <string>

#include "check.hpp"

namespace {

using check::expect_equal;
using check::require;
using check::success;

MPI_Comm comm = MPI_COMM_NULL;
int role = -1;
int error = 0;
int rank = -1;
int errors = 0;  // sum of what the callbacks got
std::string called;

void note(MPI_Comm newcomm, int fenix_error, void* name) {
  require(newcomm == comm, "communicator of a callback");
  called += static_cast<const char*>(name);
  errors += fenix_error;
}

void die(int victim) {
  MPI_Barrier(comm);
  if (rank == victim) raise(SIGKILL);
  MPI_Barrier(comm);
  check::fail("a barrier without a rank");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  static char a[] = "a";
  static char b[] = "b";
  Fenix_Init(MPI_COMM_WORLD, &comm, &role, &argc, &argv, 1, 0, MPI_INFO_NULL, &error);
  MPI_Comm_rank(comm, &rank);
  if (role == FENIX_ROLE_INITIAL_RANK) {
    success(Fenix_Callback_register(note, a), "callback_register");
    success(Fenix_Callback_register(note, b), "callback_register");
    int error_class = MPI_SUCCESS;
    MPI_Error_class(MPI_Send(&rank, 1, MPI_INT, 99, 0, comm), &error_class);
    expect_equal(error_class, MPI_ERR_RANK, "error of a send to a rank that does not exist");
    die(1);
  }
  if (error == FENIX_SUCCESS) {
    if (role == FENIX_ROLE_SURVIVOR_RANK) require(called == "ab" && errors == FENIX_SUCCESS, "callbacks: " + called);
    die(2);
  }
  expect_equal(error, FENIX_WARNING_SPARE_RANKS_DEPLETED, "error");
  if (!called.empty()) {
    require(called == "abab", "callbacks: " + called);
    expect_equal(errors, 2 * FENIX_WARNING_SPARE_RANKS_DEPLETED, "sum of the errors of callbacks");
  }
  success(Fenix_Finalize(), "Fenix_Finalize");
  check::ok(rank);
  MPI_Finalize();
  return 0;
}
