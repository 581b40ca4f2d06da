// SPDX-License-Identifier: BSD-3-Clause
// A rank that forks: the child can do nothing with Fenix, and neither its calls nor its end disturb the job.
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "check.hpp"

namespace {

int role = -1;
int error = -1;
int rank = -1;
int value = 0;
MPI_Comm comm = MPI_COMM_NULL;

// Returns what is wrong in the child, or 0.
int try_in_child() {
  int flag = 0;
  MPI_Comm other = MPI_COMM_NULL;
  if (Fenix_Data_member_store(0, 0, FENIX_DATA_SUBSET_FULL) != FENIX_ERROR_UNINITIALIZED) return 1;
  if (std::strstr(Fenix_Error_message(), "child of fork") == nullptr) return 2;
  if (Fenix_Data_commit(0, nullptr) != FENIX_ERROR_UNINITIALIZED) return 3;
  if (Fenix_Process_detect_failures(1) != FENIX_ERROR_UNINITIALIZED) return 4;
  if (Fenix_Init_no_jump(&role, MPI_COMM_WORLD, &other, nullptr, nullptr, 0, 0, MPI_INFO_NULL, &error) !=
      FENIX_ERROR_INVALID_LOGIC_CALL) {
    return 5;
  }
  if (Fenix_Finalize() != FENIX_ERROR_UNINITIALIZED) return 6;
  if (Fenix_Finalized(&flag) != FENIX_SUCCESS || flag == 0) return 7;
  return 0;
}

void fork_and_check() {
  std::fflush(stdout);
  const pid_t child = fork();
  // By exit, which runs the destructors of libraries.
  if (child == 0) std::exit(try_in_child());
  int status = -1;
  check::require(child > 0 && waitpid(child, &status, 0) == child, "fork");
  check::require(WIFEXITED(status), "a child was killed");
  check::expect_equal(WEXITSTATUS(status), 0, "what is wrong in the child");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  check::success(Fenix_Init_no_jump(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 0, 0, MPI_INFO_NULL, &error),
                 "Fenix_Init");
  MPI_Comm_rank(comm, &rank);
  check::success(Fenix_Data_group_create(0, comm, 0, 0, FENIX_DATA_POLICY_IMR, nullptr, nullptr), "group_create");
  check::success(Fenix_Data_member_create(0, 0, &value, 1, MPI_INT), "member_create");
  for (int step = 1; step < 4; ++step) {
    value = 100 * step + rank;
    check::success(Fenix_Data_member_store(0, 0, FENIX_DATA_SUBSET_FULL), "store");
    fork_and_check();
    check::success(Fenix_Data_commit_barrier(0, nullptr), "commit_barrier");
    value = -1;
    check::success(Fenix_Data_member_restore(0, 0, FENIX_DATA_RESTORE_INPLACE, 1, FENIX_DATA_SNAPSHOT_LATEST, nullptr),
                   "restore");
    check::expect_equal(value, 100 * step + rank, "what was stored");
  }
  check::success(Fenix_Finalize(), "Fenix_Finalize");
  check::ok(rank);
  MPI_Finalize();
  return 0;
}
