// SPDX-License-Identifier: BSD-3-Clause
// Errors during a repair that are no deaths, from FENIX_FAULT: one that does not go away ends the job, and one that does is nothing to the
// program. 3 active ranks and 1 spare; rank 1 dies.
// usage: lasting_error repair | world
#include <csignal>
#include <string_view>

#include "check.hpp"

namespace {

using check::success;

MPI_Comm comm = MPI_COMM_NULL;
int role = -1;
int error = -1;
int rank = -1;

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const bool uses_world = argc > 1 && std::string_view(argv[1]) == "world";
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 1, &error);
  success(error, "Fenix_Init");
  MPI_Comm_rank(comm, &rank);
  if (role == FENIX_ROLE_INITIAL_RANK) {
    static long value = 7;
    if (uses_world) {
      success(Fenix_Data_member_create(FENIX_DATA_GROUP_WORLD_ID, 0, &value, 1, MPI_LONG), "member_create");
      success(Fenix_Data_member_store(FENIX_DATA_GROUP_WORLD_ID, 0, FENIX_DATA_SUBSET_FULL), "store");
      success(Fenix_Data_commit_barrier(FENIX_DATA_GROUP_WORLD_ID, nullptr), "commit_barrier");
    }
    MPI_Barrier(comm);
    if (rank == 1) raise(SIGKILL);
    while (true) MPI_Barrier(comm);
  }
  int sum = 0;
  success(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm), "MPI_Allreduce");
  check::expect_equal(sum, 3, "sum of the ranks");
  if (uses_world) {
    long value = 0;
    success(Fenix_Data_member_restore(FENIX_DATA_GROUP_WORLD_ID, 0, &value, 1, FENIX_DATA_SNAPSHOT_LATEST, nullptr),
            "restore");
    check::expect_equal(value, 7, "what was restored");
  }
  success(Fenix_Finalize(), "Fenix_Finalize");
  check::ok(rank);
  MPI_Finalize();
  return 0;
}
