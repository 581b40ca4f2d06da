// SPDX-License-Identifier: BSD-3-Clause
// Rank 1 of 4 dies while MPI_Comm_idup is under way. All survivors have called it: the duplicate exists after the repair. newcomm is NULL,
// resume mode "return".
// usage: cut_duplicate wait|late
//   wait: survivors are in MPI_Wait
//   late: they meet the death elsewhere, and come to MPI_Wait after the repair
#include <csignal>
#include <string>

#include "../check.hpp"
#include "comms.hpp"

namespace {

int role = -1;
int error = -1;
int repairs = 0;

void count_repair(MPI_Comm, int, void*) { ++repairs; }

}  // namespace

int main(int argc, char** argv) {
  const bool is_late = std::string(argv[1]) == "late";
  MPI_Init(&argc, &argv);
  Fenix_set_option(FENIX_RESUME_MODE, FENIX_RESUME_RETURN);
  Fenix_Init(&role, MPI_COMM_WORLD, nullptr, &argc, &argv, 1, &error);
  check::success(error, "Fenix_Init");
  const int rank = rank_in(MPI_COMM_WORLD);
  MPI_Comm duplicate = MPI_COMM_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  check::success(MPI_Comm_idup(MPI_COMM_WORLD, &duplicate, &request), "MPI_Comm_idup");
  if (role == FENIX_ROLE_INITIAL_RANK) {
    Fenix_Callback_register(count_repair, nullptr);
    if (rank == 1) raise(SIGKILL);
    if (is_late) check::require(is_failure(MPI_Barrier(MPI_COMM_WORLD)), "a barrier with a dead rank");
    // Open MPI says that the request has failed, or that it has not, and in no case why.
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check::require(request == MPI_REQUEST_NULL, "the request is still there");
    if (repairs == 0) check::require(is_failure(MPI_Barrier(MPI_COMM_WORLD)), "a barrier with a dead rank");
    check::expect_equal(repairs, 1, "repairs");
  } else {
    check::expect_equal(role, FENIX_ROLE_RECOVERED_RANK, "role");
    check::success(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait of a recovered rank");
  }
  int sum = -1;
  MPI_Comm child = MPI_COMM_NULL;
  check::expect_equal(size_of(duplicate), 4, "size of the duplicate");
  check::success(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, duplicate), "MPI_Allreduce on the duplicate");
  check::expect_equal(sum, 6, "sum of the ranks");
  check::success(MPI_Comm_dup(duplicate, &child), "MPI_Comm_dup of the duplicate");
  check::success(MPI_Comm_free(&duplicate), "MPI_Comm_free");
  check::success(MPI_Barrier(child), "MPI_Barrier");
  check::success(MPI_Comm_free(&child), "MPI_Comm_free");
  check::success(Fenix_Finalize(), "Fenix_Finalize");
  check::ok(rank);
  MPI_Finalize();
  return 0;
}
