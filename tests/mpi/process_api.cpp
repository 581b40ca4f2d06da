// SPDX-License-Identifier: BSD-3-Clause
// What process recovery tells the application: roles, the dead, the spares, callbacks, times, errors that are no failures.
// 4 ranks and 2 spares; rank 1 dies, and in the next life rank 3. Nothing is stored.
#include <csignal>
#include <string>
#include <vector>

#include "check.hpp"

namespace {

using check::expect_equal;
using check::require;
using check::success;

constexpr double kPatience = 20;  // seconds

MPI_Comm comm = MPI_COMM_NULL;
int role = -1;
int error = -1;
int rank = -1;
int life = 0;        // repairs that this process has seen as an active rank
std::string called;  // callbacks, in the order in which they were called

void callback(MPI_Comm repaired, int mpi_error, void* name) {
  int size = 0;
  MPI_Comm_size(repaired, &size);
  expect_equal(size, 4, "size of the communicator in a callback");
  require(repaired == comm, "newcomm is not set before the callbacks");
  require(mpi_error != MPI_SUCCESS, "a callback gets no error");
  called += static_cast<const char*>(name);
}

int role_of(int other) {
  int result = -1;
  success(Fenix_Get_role(comm, other, &result), "Fenix_Get_role");
  return result;
}

int number_with(int wanted) {
  int number = -1;
  success(Fenix_Get_number_of_ranks_with_role(comm, wanted, &number), "number_of_ranks_with_role");
  return number;
}

void check_first_life() {
  static char a[] = "a";
  static char b[] = "b";
  static char c[] = "c";
  for (int other = 0; other < 4; ++other) expect_equal(role_of(other), FENIX_ROLE_INITIAL_RANK, "role");
  expect_equal(Fenix_get_nspare(), 2, "spares");
  expect_equal(Fenix_get_error(), FENIX_SUCCESS, "error");
  int* list = nullptr;
  expect_equal(Fenix_Process_fail_list(&list), 0, "failed ranks at the start");
  success(Fenix_Callback_register(callback, a), "callback_register");
  success(Fenix_Callback_register(callback, b), "callback_register");
  success(Fenix_Callback_register(callback, c), "callback_register");
  success(Fenix_Callback_pop(), "callback_pop");
  success(fenix::callback_register([](MPI_Comm, int) { called += "f"; }), "callback_register");

  // An error that is no failure comes back to the caller in mode "silent".
  fenix::set_option(FENIX_UNHANDLED_MODE, FENIX_UNHANDLED_SILENT);
  int value = 0;
  const int code = MPI_Send(&value, 1, MPI_INT, 99, 0, comm);
  int error_class = 0;
  MPI_Error_class(code, &error_class);
  expect_equal(error_class, MPI_ERR_RANK, "error of a send to a rank that does not exist");
}

void check_after(int dead, int spares_left, int recovered) {
  expect_equal(error, FENIX_SUCCESS, "error");
  const auto failed = fenix::fail_list();
  require(failed == std::vector<int>{dead}, "fail list");
  int* list = nullptr;
  expect_equal(Fenix_Process_fail_list(&list), 1, "failed ranks");
  expect_equal(list[0], dead, "the failed rank");
  expect_equal(Fenix_get_nspare(), spares_left, "spares");
  for (int other = 0; other < 4; ++other) {
    expect_equal(role_of(other), other == recovered ? FENIX_ROLE_RECOVERED_RANK : FENIX_ROLE_SURVIVOR_RANK, "role");
  }
  expect_equal(role, rank == recovered ? FENIX_ROLE_RECOVERED_RANK : FENIX_ROLE_SURVIVOR_RANK, "own role");
  expect_equal(number_with(FENIX_ROLE_RECOVERED_RANK), 1, "recovered ranks");
  expect_equal(number_with(FENIX_ROLE_SURVIVOR_RANK), 3, "survivors");
  double noticed = 0;
  double repaired = 0;
  success(Fenix_Process_repair_times(&noticed, &repaired), "repair_times");
  require(noticed > 0 && repaired > noticed && repaired <= MPI_Wtime(), "repair times");
}

// Rank numbers stay, and the communicator works.
void check_communicator() {
  int sum = 0;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  expect_equal(sum, 0 + 1 + 2 + 3, "sum of the ranks");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  static int first_rank = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &first_rank);
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 2, &error);
  MPI_Comm_rank(comm, &rank);
  if (role != FENIX_ROLE_INITIAL_RANK) ++life;
  if (role == FENIX_ROLE_RECOVERED_RANK) expect_equal(first_rank, rank == 1 ? 4 : 5, "the spare that took over");
  if (first_rank < 4) expect_equal(rank, first_rank, "own number");

  if (role == FENIX_ROLE_INITIAL_RANK) {
    check_first_life();
    check_communicator();
    if (rank == 1) raise(SIGKILL);
    // No MPI call of our own: this has to find it.
    for (const double begin = MPI_Wtime(); MPI_Wtime() < begin + kPatience;) Fenix_Process_detect_failures(1);
    check::fail("detect_failures has not found a death");
  }
  const bool first_repair = Fenix_get_nspare() == 1;
  if (first_repair) {
    check_after(1, 1, 1);
    if (role == FENIX_ROLE_SURVIVOR_RANK) require(called == "abf", "callbacks were called as " + called);
    check_communicator();
    if (rank == 3) raise(SIGKILL);
    // The others wait for it in a receive: the repair has to end that.
    int value = 0;
    MPI_Recv(&value, 1, MPI_INT, rank == 0 ? 3 : 0, 0, comm, MPI_STATUS_IGNORE);
    check::fail("a receive that nobody sends to has ended");
  }
  check_after(3, 0, 3);
  if (first_rank < 4) require(called == "abfabf", "callbacks were called as " + called);
  if (first_rank == 4) require(called.empty(), "a recovered rank has callbacks");
  check_communicator();
  success(Fenix_Finalize(), "Fenix_Finalize");
  check::ok(rank);
  MPI_Finalize();
  return 0;
}
