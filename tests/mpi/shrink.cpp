// SPDX-License-Identifier: BSD-3-Clause
// No spare is left: the communicator shrinks, says so, and the group goes on with the ranks that are left. A duplicate of
// MPI_COMM_WORLD belongs to the program: the repair does not revoke it.
#include <mpi.h>
#include <mpi-ext.h>

#include <csignal>

#include "check.hpp"

namespace {

using check::expect_equal;
using check::success;

constexpr int kGroup = 1;

MPI_Comm comm = MPI_COMM_NULL;
int role = -1;
int error = -1;
int rank = -1;
long state = 0;
MPI_Comm copy_of_world = MPI_COMM_NULL;

void take_part() {
  success(Fenix_Data_member_store(kGroup, 0, FENIX_DATA_SUBSET_FULL), "store");
  success(Fenix_Data_commit_barrier(kGroup, nullptr), "commit_barrier");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  static int first_rank = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &first_rank);
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 0, &error);
  MPI_Comm_rank(comm, &rank);
  int size = 0;
  MPI_Comm_size(comm, &size);
  int flag = 1;
  success(Fenix_Data_group_create(kGroup, comm, 0, 0, FENIX_DATA_POLICY_IMR, nullptr, &flag), "group_create");

  if (role == FENIX_ROLE_INITIAL_RANK) {
    expect_equal(flag, FENIX_SUCCESS, "flag");
    success(Fenix_Data_member_create(kGroup, 0, &state, 1, MPI_LONG), "member_create");
    state = 100 + rank;
    take_part();
    MPI_Comm_dup(MPI_COMM_WORLD, &copy_of_world);
    MPI_Comm_set_errhandler(copy_of_world, MPI_ERRORS_RETURN);
    if (rank == 1) raise(SIGKILL);
    while (true) take_part();
  }
  expect_equal(error, FENIX_WARNING_SPARE_RANKS_DEPLETED, "error");
  expect_equal(Fenix_get_error(), FENIX_WARNING_SPARE_RANKS_DEPLETED, "error");
  expect_equal(size, 3, "size");
  expect_equal(rank, first_rank > 1 ? first_rank - 1 : first_rank, "own number: compacted, in order");
  expect_equal(role, FENIX_ROLE_SURVIVOR_RANK, "role");
  int revoked = -1;
  MPIX_Comm_is_revoked(copy_of_world, &revoked);
  expect_equal(revoked, 0, "revocation of a duplicate of MPI_COMM_WORLD");

  // Nobody has its old number and partner: the snapshots can only be read, by the old numbers, the dead rank's included.
  // Three ranks on two nodes cannot all protect each other across nodes.
  MPI_Comm near = MPI_COMM_NULL;
  int ranks_near = 0;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near);
  MPI_Comm_size(near, &ranks_near);
  MPI_Comm_free(&near);
  expect_equal(flag, ranks_near < size ? FENIX_WARNING_SHARED_FATE : FENIX_SUCCESS, "flag");
  long restored = -1;
  expect_equal(Fenix_Data_member_restore(kGroup, 0, &restored, 1, FENIX_DATA_SNAPSHOT_LATEST, nullptr),
               FENIX_ERROR_NODATA_FOUND, "restore");
  expect_equal(restored, -1, "target of a restore without data");
  int snapshots = 0;
  int time_stamp = -1;
  success(Fenix_Data_group_get_number_of_snapshots(kGroup, &snapshots), "number_of_snapshots");
  expect_equal(snapshots, 1, "snapshots that can be read");
  success(Fenix_Data_group_get_snapshot_at_position(kGroup, 0, &time_stamp), "snapshot_at_position");
  for (int shift = 0; shift < 4; ++shift) {
    const int source = (rank + shift) % 4;
    success(Fenix_Data_member_restore_from_rank(kGroup, 0, &restored, 1, time_stamp, nullptr, source),
            "restore_from_rank");
    expect_equal(restored, 100 + source, "what that rank stored");
  }
  expect_equal(Fenix_Data_member_restore_from_rank(kGroup, 0, &restored, 1, time_stamp, nullptr, 4),
               FENIX_ERROR_INVALID_ARGUMENT, "restore_from_rank of a rank that never was");

  // The last committed snapshot is read, whether or not it is known already that all have committed it.
  state = 200 + rank;
  success(Fenix_Data_member_store(kGroup, 0, FENIX_DATA_SUBSET_FULL), "store");
  success(Fenix_Data_commit(kGroup, nullptr), "commit");
  success(
      Fenix_Data_member_restore_from_rank(kGroup, 0, &restored, 1, FENIX_DATA_SNAPSHOT_LATEST, nullptr, (rank + 1) % 3),
      "restore_from_rank");
  expect_equal(restored, 200 + (rank + 1) % 3, "what the next rank stored after shrinking");
  take_part();
  success(Fenix_Data_member_restore(kGroup, 0, &restored, 1, FENIX_DATA_SNAPSHOT_LATEST, nullptr), "restore");
  expect_equal(restored, 200 + rank, "what was stored after shrinking");
  success(Fenix_Finalize(), "Fenix_Finalize");
  check::ok(rank);
  MPI_Finalize();
  return 0;
}
