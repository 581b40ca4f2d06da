// SPDX-License-Identifier: BSD-3-Clause
// Requests and communicators from before a repair: calls on them return errors, and repair nothing. 3 active ranks and 1 spare; rank 1
// dies. An argument: the program may call MPI from several threads, so the library cannot know which thread has repaired.
#include <mpi.h>
#include <mpi-ext.h>

#include <array>
#include <csignal>

#include "check.hpp"

namespace {

using check::expect_equal;
using check::require;
using check::success;

constexpr int kNobody = 77;  // a tag that no message has

MPI_Comm comm = MPI_COMM_NULL;
MPI_Comm derived = MPI_COMM_NULL;
std::array<MPI_Request, 3> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
std::array<int, 3> values{};
int role = -1;
int error = -1;
int rank = -1;
int returns = 0;
int repairs = 0;

void count_repair(MPI_Comm, int, void*) { ++repairs; }

int class_of(int mpi_error) {
  int error_class = MPI_SUCCESS;
  MPI_Error_class(mpi_error, &error_class);
  return error_class;
}

void expect_failure(int mpi_error, const char* call) {
  const int error_class = class_of(mpi_error);
  require(error_class == MPIX_ERR_REVOKED || error_class == MPIX_ERR_PROC_FAILED,
          [&] { return std::string("error class of ") + call + " is " + std::to_string(error_class); });
}

void begin_and_die() {
  success(Fenix_Callback_register(count_repair, nullptr), "callback_register");
  success(MPI_Comm_dup(comm, &derived), "MPI_Comm_dup");
  MPI_Irecv(&values[0], 1, MPI_INT, (rank + 1) % 3, kNobody, comm, &requests[0]);
  MPI_Irecv(&values[1], 1, MPI_INT, (rank + 1) % 3, kNobody, derived, &requests[1]);
  MPI_Irecv(&values[2], 1, MPI_INT, (rank + 2) % 3, kNobody, derived, &requests[2]);
  MPI_Barrier(comm);
  if (rank == 1) raise(SIGKILL);
  while (true) MPI_Barrier(comm);
}

void touch_the_past() {
  expect_failure(MPI_Wait(&requests[0], MPI_STATUS_IGNORE), "MPI_Wait");
  int done = 0;
  int mpi_error = MPI_SUCCESS;
  while (done == 0 && mpi_error == MPI_SUCCESS) mpi_error = MPI_Test(&requests[1], &done, MPI_STATUS_IGNORE);
  expect_failure(mpi_error, "MPI_Test");
  require(MPI_Waitall(1, &requests[2], MPI_STATUSES_IGNORE) != MPI_SUCCESS, "MPI_Waitall is successful");
  expect_equal(class_of(MPI_Barrier(derived)), MPIX_ERR_REVOKED, "error class of MPI_Barrier");
  expect_equal(class_of(MPI_Send(&rank, 1, MPI_INT, 0, 0, derived)), MPIX_ERR_REVOKED, "error class of MPI_Send");
  expect_equal(Fenix_Data_group_create(1, derived, 0, 0, FENIX_DATA_POLICY_IMR, nullptr, nullptr),
               FENIX_ERROR_INVALID_ARGUMENT, "group_create");
}

}  // namespace

int main(int argc, char** argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, argc > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 1, &error);
  ++returns;
  MPI_Comm_rank(comm, &rank);
  if (role == FENIX_ROLE_INITIAL_RANK) begin_and_die();
  const bool survived = role == FENIX_ROLE_SURVIVOR_RANK;
  expect_equal(returns, survived ? 2 : 1, "number of returns from Fenix_Init");
  if (survived) touch_the_past();
  // All ranks do the same again: nobody has left for a repair.
  int sum = 0;
  success(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm), "MPI_Allreduce");
  expect_equal(sum, 3, "sum of the ranks");
  expect_equal(repairs, survived ? 1 : 0, "number of repairs");
  success(Fenix_Finalize(), "Fenix_Finalize");
  check::ok(rank);
  MPI_Finalize();
  return 0;
}
