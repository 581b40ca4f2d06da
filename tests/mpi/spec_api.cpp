// SPDX-License-Identifier: BSD-3-Clause
// <fenix/spec.h> from C++, after the other headers: what specification 1.0 says about data, and about the calls of Fenix_Init
// and Fenix_Finalize. 4 ranks and a spare; rank 1 dies when all has been tried.
#include <fenix.hpp>

#include <fenix/spec.h>

#include <dlfcn.h>

#include <array>
#include <csignal>
#include <string>
#include <utility>
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
  flag = 7;
  expect_equal(Fenix_Data_group_set_redundancy_policy(kGroup, 12345, raid, &flag), FENIX_ERROR_INVALID_POLICY_NAME,
               "set_redundancy_policy of a policy that does not exist");
  expect_equal(flag, 0, "flag of that");
}

// Nothing can be changed once something has been stored.
void frozen_policy() {
  int flag = 7;
  int separation = 1;
  expect_equal(
      Fenix_Data_group_set_redundancy_policy(kGroup, FENIX_DATA_POLICY_PEER_RANK_SEPARATION, &separation, &flag),
      FENIX_ERROR_INVALID_LOGIC_CALL, "set_redundancy_policy after a store");
  expect_equal(flag, 0, "flag of that");
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
  expect_equal(Fenix_Data_member_restore(kGroup, 1, got.data(), kCount, rank == 0 ? 0 : 1), FENIX_ERROR_MISMATCH,
               "restore with time stamps that differ");
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
  // Rank 0 is one commit ahead: no rank gets what the others have not committed.
  std::array<int, kCount> got{};
  fill(2);
  success(Fenix_Data_member_store(kGroup, 1, FENIX_DATA_SUBSET_FULL), "store");
  if (rank == 0) success(Fenix_Data_commit(kGroup, nullptr), "commit");
  expect_snapshots({1, 0}, "while one rank is ahead");
  success(Fenix_Data_member_restore(kGroup, 1, got.data(), kCount, FENIX_DATA_SNAPSHOT_LATEST), "restore");
  expect_values(got, rank, 0, 0, 2);
  expect_values(got, rank, 1, 3, 5);
  if (rank != 0) success(Fenix_Data_commit(kGroup, nullptr), "commit");
  expect_snapshots({2, 1}, "when all have committed");
  success(Fenix_Data_member_restore(kGroup, 1, got.data(), kCount, FENIX_DATA_SNAPSHOT_LATEST), "restore");
  expect_values(got, rank, 2, 0, kCount - 1);
  if (rank == 1) success(Fenix_Data_snapshot_delete(kGroup, FENIX_DATA_SNAPSHOT_LATEST), "snapshot_delete");
  expect_snapshots({1}, "after a deletion on one rank");
  // All ranks drop what one has deleted: nobody can restore it from its own memory any more.
  int time_stamp = -1;
  success(Fenix_Data_commit_barrier(kGroup, &time_stamp), "commit_barrier");
  expect_equal(time_stamp, 3, "time stamp");
  expect_equal(Fenix_Data_member_lrestore(kGroup, 1, got.data(), kCount, 2, nullptr), FENIX_ERROR_NODATA_FOUND,
               "lrestore of what another rank has deleted");
  expect_snapshots({3}, "at the end");
}

template <class T>
T attribute(int group, int member, int name, int source_rank) {
  T value{};
  int flag = 0;
  success(Fenix_Data_member_attr_get(group, member, name, &value, &flag, source_rank), "attr_get");
  expect_equal(flag, 1, "flag of attr_get");
  return value;
}

void attributes() {
  int count = 3;
  int flag = 7;
  require(attribute<void*>(kGroup, 1, FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER, rank) == values.data(), "buffer");
  expect_equal(static_cast<long>(attribute<std::size_t>(kGroup, 1, FENIX_DATA_MEMBER_ATTRIBUTE_SIZE, 0)), sizeof values,
               "size");
  expect_equal(Fenix_Data_member_attr_get(kGroup, 1, 12345, &count, &flag, 0), FENIX_ERROR_INVALID_ATTRIBUTE_NAME,
               "attr_get of an attribute that does not exist");
  expect_equal(flag, 0, "flag of that");
  flag = 7;
  expect_equal(Fenix_Data_member_attr_set(kGroup, 1, 12345, &count, &flag), FENIX_ERROR_INVALID_ATTRIBUTE_NAME,
               "attr_set of an attribute that does not exist");
  expect_equal(flag, 0, "flag of that");
  flag = 7;
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

// -------------------------------------------------------------------------------------------- groups and their members

int restored(int group, int member, int time_stamp = FENIX_DATA_SNAPSHOT_LATEST) {
  int value = -1;
  const int code = Fenix_Data_member_restore(group, member, &value, 1, time_stamp);
  return code < FENIX_SUCCESS ? code : value;
}

int committed(int group, int (*commit)(int, int*) = Fenix_Data_commit_barrier) {
  int time_stamp = -1;
  success(commit(group, &time_stamp), "commit");
  return time_stamp;
}

int number_of_snapshots(int group) {
  int number = -1;
  success(Fenix_Data_group_get_number_of_snapshots(group, &number), "number_of_snapshots");
  return number;
}

void store(int group, int member, int& variable, int value) {
  variable = value;
  success(Fenix_Data_member_store(group, member, FENIX_DATA_SUBSET_FULL), "store");
  variable = -1;  // it may be changed when the call has returned
}

void make_group(int group, int start, int depth, int& variable) {
  success(Fenix_Data_group_create(group, comm, start, depth), "group_create");
  success(Fenix_Data_member_create(group, 0, &variable, 1, MPI_INT), "member_create");
}

// The ranks that keep copies for each other: this one, the one that is a separation away, and the one for which it is.
void expect_protectors(int group, int separation) {
  MPI_Group cohort = MPI_GROUP_NULL;
  MPI_Group all = MPI_GROUP_NULL;
  success(Fenix_Data_group_get_cohort(group, &cohort), "get_cohort");
  MPI_Comm_group(comm, &all);
  for (int shift = 0; shift < 4; ++shift) {
    const int other = (rank + shift) % 4;
    int found = MPI_UNDEFINED;
    MPI_Group_translate_ranks(all, 1, &other, cohort, &found);
    const bool wanted = shift == 0 || shift == separation || shift == 4 - separation;
    expect_equal(found != MPI_UNDEFINED, wanted, "whether rank " + std::to_string(other) + " keeps copies");
  }
  MPI_Group_free(&cohort);
  MPI_Group_free(&all);
}

void groups() {
  constexpr int kOther = 7;
  static int variable = 0;
  static_assert(FENIX_GROUP_ID_MAX >= 1 << 30 && FENIX_MEMBER_ID_MAX >= 1 << 30 && FENIX_TIME_STAMP_MAX >= 1 << 30);
  for (const int start : {-1, FENIX_TIME_STAMP_MAX}) {
    expect_equal(Fenix_Data_group_create(kOther, comm, start, 0), FENIX_ERROR_INVALID_TIMESTART, "a start time stamp");
  }
  expect_equal(Fenix_Data_group_create(kOther, comm, 0, rank), FENIX_ERROR_MISMATCH, "depths that differ");
  make_group(kOther, 5, 0, variable);
  expect_protectors(kOther, 2);
  int separation = 1;
  int flag = 0;
  success(Fenix_Data_group_set_redundancy_policy(kOther, FENIX_DATA_POLICY_PEER_RANK_SEPARATION, &separation, &flag),
          "set");
  expect_protectors(kOther, 1);
  store(kOther, 0, variable, 50 + rank);
  expect_equal(committed(kOther), 5, "first time stamp");
  store(kOther, 0, variable, 60 + rank);
  expect_equal(committed(kOther), 6, "second time stamp");
  expect_equal(number_of_snapshots(kOther), 1, "snapshots at depth 0");
  // Taken up again, it is the group that it was.
  success(Fenix_Data_group_create(kOther, comm, 100, 3), "group_create again");
  expect_equal(restored(kOther, 0), 60 + rank, "value after group_create again");
  for (int time_stamp = 7; time_stamp < 10; ++time_stamp) {
    store(kOther, 0, variable, 10 * time_stamp + rank);
    expect_equal(committed(kOther), time_stamp, "time stamp after group_create again");
  }
  expect_equal(number_of_snapshots(kOther), 1, "snapshots at the old depth");
  // Deleted on one rank only, it goes on all with the barrier.
  int number = 0;
  if (rank == 0) success(Fenix_Data_group_delete(kOther), "group_delete");
  expect_equal(Fenix_Data_group_get_number_of_members(kOther, &number),
               rank == 0 ? FENIX_ERROR_INVALID_GROUPID : FENIX_SUCCESS, "number_of_members after group_delete");
  success(Fenix_Data_barrier(kOther), "barrier");
  expect_equal(Fenix_Data_group_get_number_of_members(kOther, &number), FENIX_ERROR_INVALID_GROUPID,
               "number_of_members after the barrier");
  success(Fenix_Data_group_create(kOther, comm, 20, 0), "group_create with a used id");
  success(Fenix_Data_group_get_number_of_members(kOther, &number), "number_of_members");
  expect_equal(number, 0, "members of a new group");
  expect_equal(committed(kOther), 20, "time stamp of a new group");
}

// At depth -1 nothing goes by itself.
void endless_depth() {
  constexpr int kEndless = 8;
  static int variable = 0;
  make_group(kEndless, 0, -1, variable);
  for (int time_stamp = 0; time_stamp < 6; ++time_stamp) {
    store(kEndless, 0, variable, 10 * time_stamp);
    const auto commit = time_stamp % 3 == 0 ? Fenix_Data_commit_barrier : Fenix_Data_commit_cleanup;
    expect_equal(committed(kEndless, commit), time_stamp, "time stamp");
  }
  success(Fenix_Data_cleanup(kEndless), "cleanup");
  success(Fenix_Data_barrier(kEndless), "barrier");
  expect_equal(number_of_snapshots(kEndless), 6, "snapshots at depth -1");
  for (int time_stamp = 0; time_stamp < 6; ++time_stamp) {
    expect_equal(restored(kEndless, 0, time_stamp), 10 * time_stamp, "value of an old snapshot");
  }
  success(Fenix_Data_snapshot_delete(kEndless, 3), "snapshot_delete");
  expect_equal(Fenix_Data_snapshot_delete(kEndless, 3), FENIX_ERROR_INVALID_TIMESTAMP, "snapshot_delete again");
  expect_equal(number_of_snapshots(kEndless), 5, "snapshots after snapshot_delete");
  expect_equal(restored(kEndless, 0, 3), 20, "value where a snapshot was deleted");
  success(Fenix_Data_snapshot_delete(kEndless, FENIX_DATA_SNAPSHOT_ALL), "snapshot_delete of all");
  expect_equal(number_of_snapshots(kEndless), 0, "snapshots after the deletion of all");
  expect_equal(restored(kEndless, 0), FENIX_ERROR_NODATA_FOUND, "restore after the deletion of all");
}

// Snapshots older than depth: commits do not need the other ranks, and leave them to the garbage collection.
void garbage_collection() {
  constexpr int kPassing = 9;
  static int variable = 0;
  make_group(kPassing, 0, 1, variable);
  // The ranks commit one after the other.
  for (int turn = 0; turn < 4; ++turn) {
    if (turn == rank) {
      for (int time_stamp = 0; time_stamp < 2; ++time_stamp) {
        expect_equal(committed(kPassing, time_stamp == 0 ? Fenix_Data_commit : Fenix_Data_commit_cleanup), time_stamp,
                     "time stamp of a commit alone");
      }
    }
    MPI_Barrier(comm);
  }
  for (int time_stamp = 2; time_stamp < 5; ++time_stamp) {
    store(kPassing, 0, variable, 10 * time_stamp);
    expect_equal(committed(kPassing, Fenix_Data_commit_cleanup), time_stamp, "time stamp");
  }
  MPI_Barrier(comm);
  success(Fenix_Data_cleanup(kPassing), "cleanup");
  expect_equal(number_of_snapshots(kPassing), 2, "snapshots at depth 1");
  expect_equal(restored(kPassing, 0, 3), 30, "value of the older snapshot");
  expect_equal(restored(kPassing, 0, 2), FENIX_ERROR_NODATA_FOUND, "restore of a snapshot older than depth");
  expect_equal(committed(kPassing, Fenix_Data_commit), 5, "time stamp");
  success(Fenix_Data_barrier(kPassing), "barrier");
  expect_equal(number_of_snapshots(kPassing), 2, "snapshots after the barrier");
  expect_equal(restored(kPassing, 0, 3), FENIX_ERROR_NODATA_FOUND, "restore of what has become older than depth");
}

// The group that is there from the start: all ranks, depth 0, from time stamp 0 on.
void group_of_all() {
  constexpr int kWorld = FENIX_DATA_GROUP_WORLD_ID;
  static int variable = 0;
  success(Fenix_Data_member_create(kWorld, 0, &variable, 1, MPI_INT), "member_create in the group of all");
  for (int time_stamp = 0; time_stamp < 2; ++time_stamp) {
    store(kWorld, 0, variable, 70 + 10 * time_stamp + rank);
    expect_equal(committed(kWorld), time_stamp, "time stamp in the group of all");
  }
  expect_equal(number_of_snapshots(kWorld), 1, "snapshots of the group of all");
  expect_equal(Fenix_Data_group_delete(kWorld), FENIX_ERROR_INVALID_GROUPID, "group_delete of the group of all");
  expect_equal(restored(kWorld, 0), 80 + rank, "value in the group of all");
}

void expect_members(const std::vector<int>& wanted) {
  int number = -1;
  success(Fenix_Data_group_get_number_of_members(kGroup, &number), "number_of_members");
  expect_equal(number, static_cast<long>(wanted.size()), "members");
  for (int position = 0; position < number; ++position) {
    int id = -1;
    success(Fenix_Data_group_get_member_at_position(kGroup, &id, position), "member_at_position");
    expect_equal(id, wanted[static_cast<std::size_t>(position)], "member " + std::to_string(position));
  }
  for (const int position : {-1, number}) {
    int id = -1;
    expect_equal(Fenix_Data_group_get_member_at_position(kGroup, &id, position), FENIX_ERROR_INVALID_POSITION,
                 "beyond");
  }
}

// They come and go at any time; each rank has its own count.
void members() {
  static std::array<int, 4> some{};
  const int count = rank + 1;
  const MPI_Datatype differs = rank == 0 ? MPI_FLOAT : MPI_INT;
  expect_equal(Fenix_Data_member_create(kGroup, 5, some.data(), count, differs), FENIX_ERROR_MISMATCH,
               "datatypes that differ");
  success(Fenix_Data_member_create(kGroup, 5, some.data(), count, MPI_INT), "member_create");
  success(Fenix_Data_member_create(kGroup, 3, some.data(), 1, MPI_INT), "member_create");
  expect_members({1, 5, 3});
  for (int i = 0; i < count; ++i) some[static_cast<std::size_t>(i)] = 10 * rank + i;
  success(Fenix_Data_member_store(kGroup, FENIX_DATA_MEMBER_ALL, FENIX_DATA_SUBSET_FULL), "store of all");
  success(Fenix_Data_commit_barrier(kGroup, nullptr), "commit_barrier");
  // How large a buffer has to be is known from the attributes.
  const int source = (rank + 1) % 4;
  const int there = attribute<int>(kGroup, 5, FENIX_DATA_MEMBER_ATTRIBUTE_COUNT, source);
  expect_equal(there, source + 1, "count of another rank");
  std::array<int, 4> got{-1, -1, -1, -1};
  success(Fenix_Data_member_restore_from_rank(kGroup, 5, got.data(), there, FENIX_DATA_SNAPSHOT_LATEST, source),
          "from");
  for (int i = 0; i < 4; ++i) {
    expect_equal(got[static_cast<std::size_t>(i)], i < there ? 10 * source + i : -1, "element of another rank");
  }
  if (rank == 2) success(Fenix_Data_member_delete(kGroup, 5), "member_delete");
  expect_members(rank == 2 ? std::vector<int>{1, 3} : std::vector<int>{1, 5, 3});
  success(Fenix_Data_barrier(kGroup), "barrier");
  expect_members({1, 3});
  expect_equal(restored(kGroup, 5), FENIX_ERROR_INVALID_MEMBERID, "restore of a member that was deleted");
  success(Fenix_Data_member_create(kGroup, 5, some.data(), 1, MPI_INT), "member_create with a used id");
  expect_equal(restored(kGroup, 5), FENIX_ERROR_NODATA_FOUND, "restore of a new member");
  success(Fenix_Data_member_delete(kGroup, 5), "member_delete");
  success(Fenix_Data_barrier(kGroup), "barrier");
}

// ----------------------------------------------------------------------------------------------- stores and snapshots

// Two members of which one or the other is stored.
void stores_of_some() {
  constexpr int kSome = 10;
  static int a = 0;
  static int b = 0;
  make_group(kSome, 0, 2, a);
  success(Fenix_Data_member_create(kSome, 1, &b, 1, MPI_INT), "member_create");
  store(kSome, 0, a, rank);
  store(kSome, 1, b, rank + 1);
  expect_equal(restored(kSome, 0), FENIX_ERROR_NODATA_FOUND, "restore before the commit");
  expect_equal(committed(kSome, Fenix_Data_commit), 0, "time stamp");
  store(kSome, 1, b, rank + 100);
  expect_equal(committed(kSome, Fenix_Data_commit), 1, "time stamp");
  store(kSome, 0, a, rank + 200);
  expect_equal(committed(kSome, Fenix_Data_commit), 2, "time stamp");
  expect_equal(restored(kSome, 0, 1), rank, "a in snapshot 1");
  expect_equal(restored(kSome, 1, 1), rank + 100, "b in snapshot 1");
  expect_equal(restored(kSome, 0), rank + 200, "a in the latest snapshot");
  expect_equal(restored(kSome, 1), rank + 100, "b in the latest snapshot");
  // The later of two stores counts; an empty one changes nothing.
  store(kSome, 0, a, 1);
  store(kSome, 0, a, rank + 300);
  a = 2;
  success(Fenix_Data_member_store(kSome, 0, FENIX_DATA_SUBSET_EMPTY), "store of nothing");
  expect_equal(committed(kSome), 3, "time stamp");
  expect_equal(restored(kSome, 0), rank + 300, "a that was stored twice");
}

Fenix_Data_subset subset_of(int first, int last) {
  Fenix_Data_subset subset = FENIX_SUBSET_NULL;
  success(Fenix_Data_subset_create(1, &first, &last, &subset), "subset_create");
  return subset;
}

// Elements that were never stored are left alone. A rank that gives NULL gets nothing, and the others get theirs.
void incomplete_members() {
  static std::array<int, kCount> buffer{};
  for (int i = 0; i < kCount; ++i) buffer[static_cast<std::size_t>(i)] = 100 + i;
  success(Fenix_Data_member_create(kGroup, 6, buffer.data(), kCount, MPI_INT), "member_create");
  for (const auto& [first, last] : {std::pair(3, 5), {8 + rank, 9 + rank}}) {
    Fenix_Data_subset subset = subset_of(first, last);
    success(Fenix_Data_member_storev(kGroup, 6, subset), "storev");
    success(Fenix_Data_subset_delete(&subset), "subset_delete");
  }
  Fenix_Data_subset beyond = subset_of(0, kCount);
  expect_equal(Fenix_Data_member_store(kGroup, 6, beyond), FENIX_ERROR_SUBSET_END_OFFSET, "store beyond the member");
  success(Fenix_Data_subset_delete(&beyond), "subset_delete");
  success(Fenix_Data_commit_barrier(kGroup, nullptr), "commit_barrier");
  std::array<int, kCount> got{};
  got.fill(-1);
  expect_equal(
      Fenix_Data_member_restore(kGroup, 6, rank == 2 ? nullptr : got.data(), kCount, FENIX_DATA_SNAPSHOT_LATEST),
      FENIX_WARNING_PARTIAL_RESTORE, "restore of what was stored in part");
  for (int i = 0; i < kCount; ++i) {
    const bool stored = (i >= 3 && i <= 5) || (i >= 8 + rank && i <= 9 + rank);
    expect_equal(got[static_cast<std::size_t>(i)], stored && rank != 2 ? 100 + i : -1, "element " + std::to_string(i));
  }
  success(Fenix_Data_member_delete(kGroup, 6), "member_delete");
  success(Fenix_Data_barrier(kGroup), "barrier");
}

// Requests that are complete, and none at all, are complete at once.
void requests() {
  static std::array<int, 2> buffer{};
  success(Fenix_Data_member_create(kGroup, 7, buffer.data(), 2, MPI_INT), "member_create");
  int flag = 0;
  success(Fenix_Data_wait(FENIX_REQUEST_NULL), "wait for no request");
  success(Fenix_Data_test(FENIX_REQUEST_NULL, &flag), "test of no request");
  expect_equal(flag, 1, "flag of no request");
  Fenix_Request request = FENIX_REQUEST_NULL;
  buffer = {10 * rank, 10 * rank + 1};
  success(Fenix_Data_member_istore(kGroup, 7, FENIX_DATA_SUBSET_FULL, &request), "istore");
  success(Fenix_Data_wait(request), "wait");
  buffer[static_cast<std::size_t>(rank % 2)] = 7000 + rank;
  success(Fenix_Data_wait(request), "wait for a request that is complete");
  flag = 0;
  success(Fenix_Data_test(request, &flag), "test of a request that is complete");
  expect_equal(flag, 1, "flag of a request that is complete");
  Fenix_Data_subset own = subset_of(rank % 2, rank % 2);
  success(Fenix_Data_member_istorev(kGroup, 7, own, &request), "istorev");
  for (flag = 0; flag == 0;) {
    flag = 7;
    success(Fenix_Data_test(request, &flag), "test");
    require(flag == 0 || flag == 1, "flag of test");
  }
  success(Fenix_Data_subset_delete(&own), "subset_delete");
  buffer = {-1, -1};
  success(Fenix_Data_commit_barrier(kGroup, nullptr), "commit_barrier");
  std::array<int, 2> got{};
  success(Fenix_Data_member_restore(kGroup, 7, got.data(), 2, FENIX_DATA_SNAPSHOT_LATEST), "restore");
  const std::array<int, 2> wanted =
      rank % 2 == 0 ? std::array{7000 + rank, 10 * rank + 1} : std::array{10 * rank, 7000 + rank};
  require(got == wanted, "other values than those that were stored");
  success(Fenix_Data_member_delete(kGroup, 7), "member_delete");
  success(Fenix_Data_barrier(kGroup), "barrier");
}

// ------------------------------------------------------------------------------------------------------- after a failure

constexpr int kLast = 90;

void before_the_death() {
  fill(8);
  success(Fenix_Data_member_store(kGroup, FENIX_DATA_MEMBER_ALL, FENIX_DATA_SUBSET_FULL), "store");
  success(Fenix_Data_commit_barrier(kGroup, nullptr), "commit_barrier");
  // Not committed, it does not come back.
  fill(9);
  success(Fenix_Data_member_store(kGroup, 1, FENIX_DATA_SUBSET_FULL), "store");
  MPI_Barrier(comm);
  if (rank == 1) raise(SIGKILL);
  MPI_Barrier(comm);
  check::fail("a barrier without rank 1");
}

// The group is created anew, with arguments that do not count. Its members are there.
void after_the_death() {
  success(Fenix_Data_group_create(kGroup, comm, kLast, 9), "group_create after a failure");
  expect_members({1, 3});
  int count = attribute<int>(kGroup, 1, FENIX_DATA_MEMBER_ATTRIBUTE_COUNT, rank);
  expect_equal(count, kCount, "count after a failure");
  const bool is_new = role == FENIX_ROLE_RECOVERED_RANK;
  expect_equal(is_new, rank == 1, "whether the role is that of a rank that was recovered");
  void* const buffer = attribute<void*>(kGroup, 1, FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER, rank);
  require(buffer == (is_new ? nullptr : values.data()), "source buffer after a failure");
  std::array<int, kCount> got{};
  success(Fenix_Data_member_restore(kGroup, 1, got.data(), count, FENIX_DATA_SNAPSHOT_LATEST), "restore");
  expect_values(got, rank, 8, 0, kCount - 1);
  int flag = 0;
  if (is_new) {
    success(Fenix_Data_member_attr_set(kGroup, 1, FENIX_DATA_MEMBER_ATTRIBUTE_SOURCE_BUFFER, values.data(), &flag),
            "attr_set after a failure");
    expect_equal(flag, 1, "flag of attr_set after a failure");
  }
  frozen_policy();
  fill(11);
  success(Fenix_Data_member_store(kGroup, 1, FENIX_DATA_SUBSET_FULL), "store after a failure");
  int newest = -1;
  const int before = number_of_snapshots(kGroup);
  success(Fenix_Data_group_get_snapshot_at_position(kGroup, 0, &newest), "snapshot_at_position");
  require(before == 2 && newest < kLast, "snapshots after a failure: " + std::to_string(before));
  expect_equal(committed(kGroup), newest + 1, "time stamp after a failure");
  expect_equal(number_of_snapshots(kGroup), 2, "snapshots at the depth from before");
  success(Fenix_Data_member_restore(kGroup, 1, got.data(), kCount, FENIX_DATA_SNAPSHOT_LATEST), "restore");
  expect_values(got, rank, 11, 0, kCount - 1);
  expect_equal(restored(FENIX_DATA_GROUP_WORLD_ID, 0), 80 + rank, "value in the group of all");
}

// ---------------------------------------------------------------------------------------------------- start and end

// Returns the error of a start that fails: it never comes to setjmp.
int start(MPI_Comm over, MPI_Comm* made, int spares, int spawn, MPI_Info info = MPI_INFO_NULL) {
  static int failed_role = -1;
  static int code = 0;
  Fenix_Init(over, made, &failed_role, nullptr, nullptr, spares, spawn, info, &code);
  return code;
}

void before_start() {
  static MPI_Comm none = MPI_COMM_NULL;
  int world_rank = -1;
  int number = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  expect_equal(Fenix_Data_group_get_number_of_members(kGroup, &number), FENIX_ERROR_UNINITIALIZED,
               "number_of_members before Fenix_Init");
  expect_equal(start(MPI_COMM_SELF, &none, 0, 0), FENIX_ERROR_INVALID_ARGUMENT, "Fenix_Init of MPI_COMM_SELF");
  expect_equal(start(MPI_COMM_WORLD, &none, world_rank == 0 ? 1 : 0, 0), FENIX_ERROR_MISMATCH, "spares that differ");
  expect_equal(start(MPI_COMM_WORLD, &none, 0, world_rank == 0 ? 1 : 0), FENIX_ERROR_MISMATCH, "spawn that differs");
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "resume_mode", world_rank == 0 ? "return" : "fenix_init");
  expect_equal(start(MPI_COMM_WORLD, &none, 0, 0, info), FENIX_ERROR_MISMATCH, "resume modes that differ");
  MPI_Info_free(&info);
  // With libfenix_mpi it may be: tests/mpi/interposition/newcomm_null_spec.c.
  if (dlsym(RTLD_DEFAULT, "fenix_mpi_interposer") != nullptr) return;
  expect_equal(start(MPI_COMM_WORLD, nullptr, 0, 0), FENIX_ERROR_INVALID_ARGUMENT, "newcomm is NULL");
  require(std::string(Fenix_Error_message()).find("newcomm") != std::string::npos, "text for that");
}

void second_start() {
  static MPI_Comm none = MPI_COMM_NULL;
  expect_equal(start(MPI_COMM_WORLD, &none, 0, 0), FENIX_ERROR_INVALID_LOGIC_CALL, "a second Fenix_Init");
}

void after_end() {
  int flag = 0;
  int number = 0;
  success(Fenix_Initialized(&flag), "Initialized");
  expect_equal(flag, 1, "Initialized after Fenix_Finalize");
  expect_equal(Fenix_Data_group_get_number_of_members(kGroup, &number), FENIX_ERROR_UNINITIALIZED,
               "number_of_members after Fenix_Finalize");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  before_start();
  Fenix_Init(MPI_COMM_WORLD, &comm, &role, &argc, &argv, 1, 0, MPI_INFO_NULL, &error);
  success(error, "Fenix_Init");
  MPI_Comm_rank(comm, &rank);
  if (role == FENIX_ROLE_INITIAL_RANK) {
    second_start();
    success(Fenix_Data_group_create(kGroup, comm, 0, 1), "group_create");
    for (const auto part :
         {policies, data, frozen_policy, targets, snapshots, attributes, names, groups, endless_depth,
          garbage_collection, group_of_all, members, stores_of_some, incomplete_members, requests, before_the_death}) {
      part();
    }
  }
  after_the_death();
  success(Fenix_Finalize(), "Fenix_Finalize");
  after_end();
  check::ok(rank);
  MPI_Finalize();
  return 0;
}
