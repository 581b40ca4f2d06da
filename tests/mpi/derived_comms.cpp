// SPDX-License-Identifier: BSD-3-Clause
// Communicators derived from the resilient one: ranks that wait on one of them, without the dead rank among them, are freed.
// 4 ranks and 1 spare. Rank 0 dies. Rank 3 notices on the resilient communicator; 1 and 2 wait for rank 3 on derived ones.
// "returned": the program has set MPI_ERRORS_RETURN on the derived ones, as mpi4py and HDF5 do. A communicator from before Fenix_Init stays
// as it is, and so does its duplicate.
#include <mpi-ext.h>

#include <csignal>
#include <string_view>

#include "check.hpp"

namespace {

MPI_Comm comm = MPI_COMM_NULL;
int role = -1;
int error = 0;
int rank = -1;

// A communicator that is freed while a receive is pending must not disturb the search for derived ones.
void leave_one_half_freed() {
  static int value = 0;
  MPI_Comm freed = MPI_COMM_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Comm_dup(comm, &freed);
  MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, freed, &request);
  MPI_Comm_free(&freed);
}

// Communicators that do not belong to the resilient one.
struct Outsiders {
  MPI_Comm upper = MPI_COMM_NULL;  // ranks 1 to 3, from before Fenix_Init
  MPI_Comm copy = MPI_COMM_NULL;   // of upper, from after it
};
Outsiders outsiders;

MPI_Comm returning_errors(MPI_Comm made) {
  MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
  return made;
}

MPI_Comm split_of_world(bool in) {
  int number = 0;
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_rank(MPI_COMM_WORLD, &number);
  MPI_Comm_split(MPI_COMM_WORLD, in ? 0 : 1, number, &part);
  return returning_errors(part);
}

void make_copy_of_outsider() {
  MPI_Comm_dup(outsiders.upper, &outsiders.copy);
  returning_errors(outsiders.copy);
}

void check_outsiders() {
  for (MPI_Comm each : {outsiders.upper, outsiders.copy}) {
    int revoked = -1;
    int sum = 0;
    MPIX_Comm_is_revoked(each, &revoked);
    check::expect_equal(revoked, 0, "revocation of a communicator that is not derived");
    check::expect_equal(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, each), MPI_SUCCESS, "MPI_Allreduce on it");
    check::expect_equal(sum, 6, "sum of its ranks");
  }
}

// Waits for a rank that does not send, on a derived communicator: the repair revokes it.
void wait_for(int source, MPI_Comm derived) {
  int value = 0;
  int error_class = MPI_SUCCESS;
  MPI_Error_class(MPI_Recv(&value, 1, MPI_INT, source, 0, derived, MPI_STATUS_IGNORE), &error_class);
  check::expect_equal(error_class, MPIX_ERR_REVOKED, "class of the error of MPI_Recv");
  MPI_Barrier(comm);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const bool returned = argc > 1 && std::string_view(argv[1]) == "returned";
  int number = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &number);
  if (returned) outsiders.upper = split_of_world(number >= 1 && number <= 3);
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 1, &error);
  MPI_Comm_rank(comm, &rank);

  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Comm upper = MPI_COMM_NULL;
  MPI_Comm grid = MPI_COMM_NULL;
  const int dims[1] = {4};
  const int periods[1] = {1};
  MPI_Comm_dup(comm, &copy);
  MPI_Comm_split(copy, rank == 0 ? 0 : 1, rank, &upper);
  MPI_Cart_create(comm, 1, dims, periods, 0, &grid);
  if (returned) {
    for (MPI_Comm each : {copy, upper, grid}) returning_errors(each);
  }

  if (role == FENIX_ROLE_INITIAL_RANK) {
    leave_one_half_freed();
    if (returned && rank > 0) make_copy_of_outsider();
    if (rank == 0) raise(SIGKILL);
    int value = 0;
    int roles = 0;
    check::success(Fenix_Get_role(upper, 0, &roles), "Fenix_Get_role on a derived communicator");
    if (returned && rank < 3) wait_for(rank == 1 ? 2 : 3, rank == 1 ? upper : grid);
    if (rank == 1) MPI_Recv(&value, 1, MPI_INT, 2, 0, upper, MPI_STATUS_IGNORE);  // rank 3, in upper
    if (rank == 2) MPI_Recv(&value, 1, MPI_INT, 3, 0, grid, MPI_STATUS_IGNORE);
    if (rank == 3) MPI_Barrier(comm);
    check::fail("a call that cannot end has returned");
  }
  if (returned && role == FENIX_ROLE_SURVIVOR_RANK) check_outsiders();
  // Derived anew, they work.
  int sum = 0;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, grid);
  check::expect_equal(sum, 6, "sum of the ranks");
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, upper);
  check::expect_equal(sum, rank == 0 ? 0 : 6, "sum of the upper ranks");
  // A group may live on a derived communicator as well.
  check::success(Fenix_Data_group_create(1, grid, 0, 0, FENIX_DATA_POLICY_IMR, nullptr, nullptr), "group_create");
  check::success(Fenix_Data_member_create(1, 0, &rank, 1, MPI_INT), "member_create");
  check::success(Fenix_Data_member_store(1, 0, FENIX_DATA_SUBSET_FULL), "store");
  check::success(Fenix_Data_commit_barrier(1, nullptr), "commit_barrier");
  check::success(Fenix_Finalize(), "Fenix_Finalize");
  check::ok(rank);
  MPI_Finalize();
  return 0;
}
