// SPDX-License-Identifier: BSD-3-Clause
// <fenix/spec.h> from C++, after the other headers: the forms of specification 1.0 where they differ. 4 ranks.
#include <fenix.hpp>

#include <fenix/spec.h>

#include <array>
#include <string>
#include <vector>

#include "check.hpp"

namespace {

using check::expect_equal;
using check::require;
using check::success;

constexpr int kGroup = 66;
constexpr int kCount = 20;

MPI_Comm comm = MPI_COMM_NULL;
int role = -1;
int error = 0;
int rank = -1;
std::array<int, kCount> values{};

void fill(int version) {
  for (int i = 0; i < kCount; ++i) values[static_cast<std::size_t>(i)] = 1000 * rank + 100 * version + i;
}

void expect_values(const std::array<int, kCount>& got, int of_rank, int version, int first, int last) {
  for (int i = first; i <= last; ++i) {
    expect_equal(got[static_cast<std::size_t>(i)], 1000 * of_rank + 100 * version + i, "element " + std::to_string(i));
  }
}

// As many values as the policy has are written, and no more.
void set_and_get(int name, std::array<int, 3> wanted, std::size_t number) {
  int flag = -1;
  success(Fenix_Data_group_set_redundancy_policy(kGroup, name, wanted.data(), &flag), "set_redundancy_policy");
  std::array<int, 3> got{-1, -1, -1};
  success(Fenix_Data_group_get_redundancy_policy(kGroup, name, got.data(), &flag), "get_redundancy_policy");
  expect_equal(flag, 1, "flag");
  for (std::size_t i = 0; i < got.size(); ++i) expect_equal(got[i], i < number ? wanted[i] : -1, "a value");
}

void policies() {
  const int before = FENIX_DATA_POLICY_PEER_RANK_SEPARATION;
  set_and_get(FENIX_DATA_POLICY_REED_SOLOMON, {1, 4, 2}, 3);
  set_and_get(FENIX_DATA_POLICY_IMR, {5, 1, 4}, 3);
  set_and_get(FENIX_DATA_POLICY_LOCAL, {0, 0, 0}, 0);
  success(Fenix_Data_group_set_redundancy_policy(kGroup, before, nullptr, nullptr), "set the default");
  std::array<int, 3> value{-1, -1, -1};
  int flag = -1;
  success(Fenix_Data_group_get_redundancy_policy(kGroup, FENIX_DATA_POLICY_PEER_RANK_SEPARATION, value.data(), &flag),
          "get_redundancy_policy");
  expect_equal(flag, 1, "flag of the group's policy");
  expect_equal(value[0], 2, "default separation");
  expect_equal(value[1], -1, "written beyond one int");
  success(Fenix_Data_group_get_redundancy_policy(kGroup, FENIX_DATA_POLICY_IMR, value.data(), &flag), "get");
  expect_equal(flag, 0, "flag of another policy");
  expect_equal(value[0], 2, "written in spite of that");
  expect_equal(Fenix_Data_group_get_redundancy_policy(99, FENIX_DATA_POLICY_PEER_RANK_SEPARATION, value.data(), &flag),
               FENIX_ERROR_INVALID_GROUPID, "unknown group");
  expect_equal(flag, 0, "flag of an unknown group");

  int raid[2] = {1, 1};
  success(Fenix_Data_group_set_redundancy_policy(kGroup, FENIX_DATA_POLICY_IMR, raid, &flag), "set_redundancy_policy");
  expect_equal(flag, 1, "flag of set");
  success(Fenix_Data_group_get_redundancy_policy(kGroup, FENIX_DATA_POLICY_IMR, value.data(), &flag), "get");
  require(flag == 1 && value[0] == 1 && value[1] == 1 && value[2] == -1, "values of the policy that was set");
}

void data() {
  success(Fenix_Data_member_create(kGroup, 1, values.data(), kCount, MPI_INT), "member_create");
  fill(0);
  success(Fenix_Data_member_store(kGroup, 1, FENIX_DATA_SUBSET_FULL), "store");
  success(Fenix_Data_commit(kGroup, nullptr), "commit");
  fill(1);
  int first[] = {15, 3};
  int last[] = {19, 5};
  Fenix_Data_subset subset = FENIX_SUBSET_NULL;
  success(Fenix_Data_subset_create(2, first, last, &subset), "subset_create");
  success(Fenix_Data_member_store(kGroup, 1, subset), "store");
  success(Fenix_Data_commit_barrier(kGroup, nullptr), "commit_barrier");
  success(Fenix_Data_subset_delete(&subset), "subset_delete");
  require(subset.impl == FENIX_SUBSET_NULL.impl, "the handle of a deleted subset");

  std::array<int, kCount> got{};
  success(Fenix_Data_member_restore(kGroup, 1, got.data(), kCount, FENIX_DATA_SNAPSHOT_LATEST), "restore");
  expect_values(got, rank, 0, 0, 2);
  expect_values(got, rank, 1, 3, 5);
  expect_values(got, rank, 0, 6, 14);
  expect_values(got, rank, 1, 15, 19);
  success(Fenix_Data_restore(kGroup, 1, got.data(), kCount, 0), "Fenix_Data_restore");
  expect_values(got, rank, 0, 0, kCount - 1);
  const int other = 3 - rank;
  success(Fenix_Data_member_restore_from_rank(kGroup, 1, got.data(), kCount, 0, other), "restore_from_rank");
  expect_values(got, other, 0, 0, kCount - 1);
}

// A restore that wants no data, and one that has no room for it.
void targets() {
  std::array<int, kCount> got{};
  success(Fenix_Data_member_restore(kGroup, 1, nullptr, kCount, FENIX_DATA_SNAPSHOT_LATEST), "restore into NULL");
  const int room = rank == 1 ? kCount - 1 : kCount;
  expect_equal(Fenix_Data_member_restore(kGroup, 1, got.data(), room, FENIX_DATA_SNAPSHOT_LATEST),
               FENIX_ERROR_BUFFER_TOO_SMALL, "restore without room on one rank");
  expect_equal(Fenix_Data_member_restore_from_rank(kGroup, 1, got.data(), room, FENIX_DATA_SNAPSHOT_LATEST, 0),
               FENIX_ERROR_BUFFER_TOO_SMALL, "restore_from_rank without room on one rank");
  expect_equal(got[0], 0, "an element after an error");
  success(Fenix_Data_member_restore(kGroup, 1, got.data(), kCount, FENIX_TIME_STAMP_MAX), "restore of the latest");
  expect_values(got, rank, 1, 15, 19);
}

void expect_snapshots(const std::vector<int>& wanted, const std::string& when) {
  int number = -1;
  success(Fenix_Data_group_get_number_of_snapshots(kGroup, &number), "number_of_snapshots");
  expect_equal(number, static_cast<long>(wanted.size()), "snapshots " + when);
  for (int position = 0; position < number; ++position) {
    int time_stamp = -1;
    success(Fenix_Data_group_get_snapshot_at_position(kGroup, position, &time_stamp), "snapshot_at_position");
    expect_equal(time_stamp, wanted[static_cast<std::size_t>(position)], "time stamp " + when);
  }
  int none = 0;
  expect_equal(Fenix_Data_group_get_snapshot_at_position(kGroup, number, &none), FENIX_ERROR_INVALID_POSITION,
               "beyond");
}

// Only what all ranks have is counted, by all alike; a commit_barrier removes the rest.
void snapshots() {
  expect_snapshots({1, 0}, "at first");
  // Rank 0 is one commit ahead.
  success(Fenix_Data_member_store(kGroup, 1, FENIX_DATA_SUBSET_FULL), "store");
  if (rank == 0) success(Fenix_Data_commit(kGroup, nullptr), "commit");
  expect_snapshots({1, 0}, "while one rank is ahead");
  if (rank != 0) success(Fenix_Data_commit(kGroup, nullptr), "commit");
  expect_snapshots({2, 1}, "when all have committed");
  if (rank == 1) success(Fenix_Data_snapshot_delete(kGroup, FENIX_DATA_SNAPSHOT_LATEST), "snapshot_delete");
  expect_snapshots({1}, "after a deletion on one rank");
  // All ranks drop what one has deleted: nobody can restore it from its own memory any more.
  int time_stamp = -1;
  success(Fenix_Data_commit_barrier(kGroup, &time_stamp), "commit_barrier");
  expect_equal(time_stamp, 3, "time stamp");
  std::array<int, kCount> got{};
  expect_equal(Fenix_Data_member_lrestore(kGroup, 1, got.data(), kCount, 2, nullptr), FENIX_ERROR_NODATA_FOUND,
               "lrestore of what another rank has deleted");
  expect_snapshots({3}, "at the end");
}

void attributes() {
  int count = 3;
  int flag = 7;
  MPI_Datatype type = MPI_INT;
  expect_equal(Fenix_Data_member_attr_set(kGroup, 1, FENIX_DATA_GROUP_MEMBER_ATTRIBUTE_COUNT, &count, &flag),
               FENIX_ERROR_INVALID_ATTRIBUTE_NAME, "attr_set of a count");
  expect_equal(flag, 0, "flag of that");
  expect_equal(Fenix_Data_member_attr_set(kGroup, 1, FENIX_DATA_GROUP_MEMBER_ATTRIBUTE_DATATYPE, &type, &flag),
               FENIX_ERROR_INVALID_ATTRIBUTE_NAME, "attr_set of a type");
  success(Fenix_Data_member_attr_set(kGroup, 1, FENIX_DATA_GROUP_MEMBER_ATTRIBUTE_BUFFER, values.data(), &flag),
          "attr_set of a buffer");
  expect_equal(flag, 1, "flag of attr_set");
}

void names() {
  // Not macros with arguments: their addresses can be taken.
  int (*const restore)(int, int, void*, int, int) = Fenix_Data_member_restore;
  expect_equal(restore(99, 1, values.data(), kCount, 0), FENIX_ERROR_INVALID_GROUPID, "through a pointer");
  int count = 0;
  int flag = 0;
  success(Fenix_Data_member_attr_get(kGroup, 1, FENIX_DATA_GROUP_MEMBER_ATTRIBUTE_COUNT, &count, &flag, rank),
          "attr_get");
  expect_equal(count, kCount, "count");
  MPI_Datatype type = MPI_DATATYPE_NULL;
  success(Fenix_Data_member_attr_get(kGroup, 1, FENIX_DATA_GROUP_MEMBER_ATTRIBUTE_DATATYPE, &type, &flag, rank),
          "attr_get");
  int size = 0;
  MPI_Type_size(type, &size);
  expect_equal(size, sizeof(int), "size of the datatype");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm* const world_itself = nullptr;
  Fenix_Init(MPI_COMM_WORLD, world_itself, &role, &argc, &argv, 0, 0, MPI_INFO_NULL, &error);
  expect_equal(error, FENIX_ERROR_INVALID_ARGUMENT, "newcomm is NULL");
  require(std::string(Fenix_Error_message()).find("newcomm") != std::string::npos, "text for that");
  Fenix_Init(MPI_COMM_WORLD, &comm, &role, &argc, &argv, 0, 0, MPI_INFO_NULL, &error);
  success(error, "Fenix_Init");
  MPI_Comm_rank(comm, &rank);
  success(Fenix_Data_group_create(kGroup, comm, 0, 1), "group_create");
  for (const auto part : {policies, data, targets, snapshots, attributes, names}) part();
  success(Fenix_Finalize(), "Fenix_Finalize");
  check::ok(rank);
  MPI_Finalize();
  return 0;
}
