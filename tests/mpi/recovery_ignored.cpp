// SPDX-License-Identifier: BSD-3-Clause
// FENIX_RECOVERY_IGNORE: a call of MPI returns the error of a death, and nothing is repaired until the program wants it.
// 3 ranks, no spares; rank 2 dies.
#include <mpi.h>
#include <mpi-ext.h>

#include <csignal>

#include "check.hpp"

namespace {

using check::expect_equal;
using check::require;
using check::success;

MPI_Comm comm = MPI_COMM_NULL;
int role = -1;
int error = -1;
int rank = -1;
bool ignored = false;

int size_of_comm() {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

int receive_from_the_dead() {
  int value = 0;
  return MPI_Recv(&value, 1, MPI_INT, 2, 0, comm, MPI_STATUS_IGNORE);
}

void ignore_a_death() {
  success(Fenix_set_option(FENIX_RECOVERY_MODE, FENIX_RECOVERY_IGNORE), "set_option");
  if (rank == 2) raise(SIGKILL);
  int error_class = MPI_SUCCESS;
  MPI_Error_class(receive_from_the_dead(), &error_class);
  expect_equal(error_class, MPIX_ERR_PROC_FAILED, "error of a receive from the dead rank");
  expect_equal(size_of_comm(), 3, "ranks of a communicator that is not repaired");
  require(fenix::fail_list().empty(), "fail list without a repair");
  // The two that live still talk; the repair of one would disturb the other before.
  int theirs = -1;
  const int other = 1 - rank;
  success(MPI_Sendrecv(&rank, 1, MPI_INT, other, 1, &theirs, 1, MPI_INT, other, 1, comm, MPI_STATUS_IGNORE),
          "MPI_Sendrecv");
  expect_equal(theirs, other, "the number that the other rank sends");
  ignored = true;
  success(Fenix_set_option(FENIX_RECOVERY_MODE, FENIX_RECOVERY_REPAIR), "set_option");
  (void)receive_from_the_dead();
  check::fail("the repair has not led back to Fenix_Init");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 0, &error);
  MPI_Comm_rank(comm, &rank);
  if (role == FENIX_ROLE_INITIAL_RANK) ignore_a_death();
  require(ignored, "a repair before it was wanted");
  expect_equal(role, FENIX_ROLE_SURVIVOR_RANK, "role");
  expect_equal(error, FENIX_WARNING_SPARE_RANKS_DEPLETED, "error");
  expect_equal(size_of_comm(), 2, "ranks after the repair");
  success(Fenix_Finalize(), "Fenix_Finalize");
  check::ok(rank);
  MPI_Finalize();
  return 0;
}
