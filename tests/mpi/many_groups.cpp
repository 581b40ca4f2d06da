// SPDX-License-Identifier: BSD-3-Clause
// Groups that each have a new id, and are deleted without a barrier: their communicators, descriptors and mappings do not add up. Also
// where groups are those of a part of the ranks, and where some ranks have not deleted theirs yet. 4 ranks.
// An argument: only groups after one that one rank has lost and deleted at once.
#include <cstdlib>
#include <string>

#include "check.hpp"
#include "support/used_resources.hpp"

namespace {

using check::expect_equal;
using check::require;
using check::success;

constexpr int kGroups = 60;
// Nine groups may be kept.
constexpr int kDescriptors = 9 * 2;
constexpr int kMappings = 9 * 6;

MPI_Comm comm = MPI_COMM_NULL;
int rank = -1;
double value = 0;

void create(int id, MPI_Comm ranks) {
  success(Fenix_Data_group_create(id, ranks, 0, 0, FENIX_DATA_POLICY_IN_MEMORY_RAID, nullptr, nullptr), "group_create");
  success(Fenix_Data_member_create(id, 1, &value, 1, MPI_DOUBLE), "member_create");
}

void expect_stored(int id) {
  double got = -1;
  success(Fenix_Data_member_restore(id, 1, &got, 1, FENIX_DATA_SNAPSHOT_LATEST, nullptr), "restore");
  require(got == id + 0.25 * rank, "another value");
}

void use(int id, MPI_Comm ranks) {
  create(id, ranks);
  value = id + 0.25 * rank;
  success(Fenix_Data_member_store(id, 1, FENIX_DATA_SUBSET_FULL), "store");
  success(Fenix_Data_commit_barrier(id, nullptr), "commit_barrier");
}

void many(int first, MPI_Comm ranks, const std::string& what) {
  fenix_test::UsedResources before;
  for (int i = 0; i < kGroups; ++i) {
    if (i == kGroups / 2) before = fenix_test::used_resources();
    use(first + i, ranks);
    success(Fenix_Data_group_delete(first + i), "group_delete");
  }
  const auto after = fenix_test::used_resources();
  require(
      after.descriptors <= before.descriptors + kDescriptors,
      what + ": descriptors " + std::to_string(before.descriptors) + " and then " + std::to_string(after.descriptors));
  // Windows are not freed.
  const char* const path = std::getenv("FENIX_PATH");
  const long windows = path != nullptr && std::string(path) == "window" ? 4L * kGroups / 2 : 0;
  require(after.mappings <= before.mappings + kMappings + windows,
          what + ": mappings " + std::to_string(before.mappings) + " and then " + std::to_string(after.mappings));
}

/// Rank 1 waits for the others in vain. It has nothing of the group after the deletion; the others still have it.
void lose_on_one(int id) {
  use(id, comm);
  if (rank == 1) expect_equal(Fenix_Data_barrier(id), FENIX_ERROR_TIMEOUT, "barrier that no other rank calls");
  success(MPI_Barrier(comm), "MPI_Barrier");
  success(Fenix_Data_group_delete(id), "group_delete of a group that one rank has lost");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int role = -1;
  int error = 0;
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 0, &error);
  MPI_Comm_rank(comm, &rank);
  if (argc > 1) {
    lose_on_one(50);
    many(100, comm, "all ranks, after a group that one has lost");
    success(Fenix_Finalize(), "Fenix_Finalize");
    check::ok(rank);
    MPI_Finalize();
    return 0;
  }
  many(100, comm, "all ranks");
  // Deleted on one rank only: it stays until the others have done the same.
  constexpr int kOnOne = 50;
  use(kOnOne, comm);
  if (rank == 1) success(Fenix_Data_group_delete(kOnOne), "group_delete on one rank");
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(comm, rank / 2, rank, &half);
  many(200 + rank / 2 * 100, half, "half of the ranks");
  many(400, comm, "all ranks, after halves");
  if (rank != 1) {
    expect_equal(Fenix_Data_group_created(kOnOne), 1, "group_created where it was not deleted");
    success(Fenix_Data_group_delete(kOnOne), "group_delete on the others");
  }
  many(500, comm, "all ranks, once more");
  // Few of them are left to the program.
  use(1, comm);
  use(2, comm);
  success(Fenix_Data_group_delete(1), "group_delete");
  expect_stored(2);
  success(Fenix_Data_barrier(1), "barrier");
  expect_equal(Fenix_Data_barrier(100), FENIX_ERROR_INVALID_GROUPID, "barrier for one that was given back");
  MPI_Comm_free(&half);
  success(Fenix_Finalize(), "Fenix_Finalize");
  check::ok(rank);
  MPI_Finalize();
  return 0;
}
