// SPDX-License-Identifier: BSD-3-Clause
// FENIX_RECOVERY_MODE and spares. 3 active ranks and 1 spare; rank 1 dies.
// usage: spares_and_modes ignored   the mode excludes repairs from the start: the spare leaves the others alone, until they want a repair
//                         finished  the same; the others finish without the dead rank, and SIGPIPE still does not end them
//                         spawn     the mode becomes FENIX_RECOVERY_SPAWN, which the spare does not know
//                         mismatch  ranks give different modes
#include <mpi.h>
#include <mpi-ext.h>

#include <chrono>
#include <csignal>
#include <string>
#include <thread>

#include "check.hpp"
#include "signal_action.hpp"

namespace {

using check::expect_equal;
using check::require;
using check::success;

MPI_Comm comm = MPI_COMM_NULL;
int role = -1;
int error = -1;
int rank = -1;
int first_rank = -1;
std::string test;
bool ignores = false;

int receive_from_the_dead() {
  int value = 0;
  int error_class = MPI_SUCCESS;
  MPI_Error_class(MPI_Recv(&value, 1, MPI_INT, 1, 0, comm, MPI_STATUS_IGNORE), &error_class);
  return error_class;
}

void die() {
  MPI_Barrier(comm);
  if (rank == 1) raise(SIGKILL);
}

// A spare that does not keep still begins its repair after a second.
void compute_beside_a_death() {
  expect_equal(receive_from_the_dead(), MPIX_ERR_PROC_FAILED, "error of a receive from the dead rank");
  for (int i = 0; i < 15; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    int theirs = -1;
    const int other = 2 - rank;
    success(MPI_Sendrecv(&rank, 1, MPI_INT, other, 1, &theirs, 1, MPI_INT, other, 1, comm, MPI_STATUS_IGNORE),
            "MPI_Sendrecv beside a death that is ignored");
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  test = argv[1];
  MPI_Comm_rank(MPI_COMM_WORLD, &first_rank);
  ignores = test == "ignored" || test == "finished";
  if (ignores || (test == "mismatch" && first_rank == 2)) Fenix_set_option(FENIX_RECOVERY_MODE, FENIX_RECOVERY_IGNORE);
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 1, &error);
  if (test == "mismatch") {
    expect_equal(error, FENIX_ERROR_MISMATCH, "error of Fenix_Init");
    check::ok(first_rank);
    MPI_Finalize();
    return 0;
  }
  success(error, "Fenix_Init");
  MPI_Comm_rank(comm, &rank);
  if (role == FENIX_ROLE_INITIAL_RANK) {
    if (test == "spawn") success(Fenix_set_option(FENIX_RECOVERY_MODE, FENIX_RECOVERY_SPAWN), "set_option");
    die();
    if (ignores) compute_beside_a_death();
    if (test != "finished") {
      if (ignores) success(Fenix_set_option(FENIX_RECOVERY_MODE, FENIX_RECOVERY_REPAIR), "set_option");
      (void)receive_from_the_dead();
      check::fail("the repair has not led back to Fenix_Init");
    }
  }
  int size = 0;
  MPI_Comm_size(comm, &size);
  expect_equal(size, 3, "ranks");
  if (test != "finished") require(role != FENIX_ROLE_INITIAL_RANK, "no repair");
  success(Fenix_Finalize(), "Fenix_Finalize");
  require(!check::has_default_action(SIGPIPE), "SIGPIPE would end a process that knows of a death");
  check::ok(rank);
  MPI_Finalize();
  return 0;
}
