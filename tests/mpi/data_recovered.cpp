// SPDX-License-Identifier: BSD-3-Clause
// Data after a failure, as programs for the current Fenix and for specification 1.0 use it. Ranks that repair meet ranks
// that restore. Recovered ranks create members alone, or store from where they have restored. The group of all ranks is there at once. 3 ranks and spares; rank 1
// dies.
#include <algorithm>
#include <array>
#include <climits>
#include <csignal>
#include <cstring>
#include <string>

#include "check.hpp"

namespace {

using check::expect_equal;
using check::require;
using check::success;

constexpr int kGroup = -5;
constexpr int kMember = INT_MIN;
constexpr int kOther = 3;
constexpr int kWorld = FENIX_DATA_GROUP_WORLD_ID;
constexpr int kCount = 6;
constexpr int kLatest = FENIX_DATA_SNAPSHOT_LATEST;
constexpr int kBuffer = FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER;
void* const kInPlace = FENIX_DATA_RESTORE_INPLACE;

using Values = std::array<int, kCount>;

MPI_Comm comm = MPI_COMM_NULL;
int rank = -1;
int role = -1;
Values values{};
Values others{};

Values values_of(int owner, int snapshot) {
  Values result{};
  for (int i = 0; i < kCount; ++i) result[static_cast<std::size_t>(i)] = owner * 1000 + snapshot * 100 + i;
  return result;
}

bool is_new() { return role == FENIX_ROLE_RECOVERED_RANK; }

void expect(const Values& got, int snapshot, const char* what) {
  require(got == values_of(rank, snapshot), std::string("other values: ") + what);
}

void create_group() {
  success(Fenix_Data_group_create(kGroup, comm, 0, 1, FENIX_DATA_POLICY_IMR, nullptr, nullptr), "group_create");
}

void commit(int group, int snapshot) {
  values = values_of(rank, snapshot);
  others = values_of(rank, snapshot + 5);
  success(Fenix_Data_member_store(group, FENIX_DATA_MEMBER_ALL, FENIX_DATA_SUBSET_FULL), "store");
  success(Fenix_Data_commit_barrier(group, nullptr), "commit_barrier");
}

void die() {
  if (rank == 1) raise(SIGKILL);
  MPI_Barrier(comm);
  check::fail("goes on after a failure");
}

// Survivors know the members; what a recovered rank creates is what it has learnt from them.
void start_group() {
  create_group();
  success(Fenix_Data_member_create(kGroup, kMember, values.data(), kCount, MPI_INT), "member_create");
  success(Fenix_Data_member_create(kGroup, kOther, others.data(), kCount, MPI_INT), "member_create");
  commit(kGroup, 1);
  commit(kGroup, 2);
}

// --------------------------------------------------------------------------------------------------------------- repair

int restore(Values& target, int time_stamp) {
  return Fenix_Data_member_restore(kGroup, kMember, target.data(), kCount, time_stamp, nullptr);
}

// The ranks that repair take part in what the others restore, whichever ranks these are.
void check_repair() {
  create_group();
  for (const bool new_ones_restore : {true, false}) {
    for (const int time_stamp : {kLatest, 0, FENIX_TIME_STAMP_MAX}) {
      Values got{};
      if (is_new() == new_ones_restore) {
        success(restore(got, time_stamp), "restore that meets member_repair");
        expect(got, time_stamp == 0 ? 1 : 2, "restored beside member_repair");
      } else {
        success(Fenix_Data_member_repair(kGroup, kMember), "member_repair that meets a restore");
      }
    }
  }
  success(Fenix_Data_member_repair(kGroup, kMember), "member_repair on all ranks");
  Values got{};
  // Errors of one are those of all, here as elsewhere.
  const int code = rank == 0 ? restore(got, -7) : Fenix_Data_member_repair(kGroup, kMember);
  expect_equal(code, FENIX_ERROR_INVALID_TIMESTAMP, "restore of -7 beside member_repair");
  const int other = rank == 0 ? restore(got, kLatest) : Fenix_Data_member_repair(kGroup, kOther);
  expect_equal(other, FENIX_ERROR_MISMATCH, "restore of another member than member_repair");
  success(restore(got, kLatest), "restore on all ranks");
  expect(got, 2, "restored on all ranks");
}

// --------------------------------------------------------------------------------------------------------------- create

void serialize(FILE* file, int direction, void* buffer, int offset, int count, void* ctx) {
  ++*static_cast<int*>(ctx);
  int* elements = static_cast<int*>(buffer) + offset;
  const auto number = static_cast<std::size_t>(count);
  const std::size_t done = direction == FENIX_SERIALIZE ? std::fwrite(elements, sizeof(int), number, file)
                                                        : std::fread(elements, sizeof(int), number, file);
  require(done == number, "a file of another length");
}

// Recovered ranks create and define members alone: the others are elsewhere, in a barrier of MPI.
void check_create() {
  create_group();
  static int calls = 0;
  values.fill(-1);
  others.fill(-1);
  if (is_new()) {
    expect_equal(Fenix_Data_member_created(kGroup, kMember), 1, "member_created on a recovered rank");
    expect_equal(Fenix_Data_member_create(kGroup, kMember, values.data(), kCount - 1, MPI_INT),
                 FENIX_ERROR_INVALID_LOGIC_CALL, "member_create with another count");
    success(Fenix_Data_member_create(kGroup, kMember, values.data(), kCount, MPI_INT), "member_create, alone");
    expect_equal(Fenix_Data_member_create(kGroup, kMember, values.data(), kCount, MPI_INT), FENIX_ERROR_MEMBER_EXISTS,
                 "member_create, once more");
    success(Fenix_Data_member_fdefine(kGroup, kOther, others.data(), kCount, MPI_INT, serialize, &calls),
            "member_fdefine, alone");
  } else if (rank == 0) {
    expect_equal(Fenix_Data_member_create(kGroup, kMember, values.data(), kCount, MPI_INT), FENIX_ERROR_MEMBER_EXISTS,
                 "member_create on a survivor, alone");
    success(Fenix_Data_member_define(kGroup, kOther, others.data(), kCount, MPI_INT), "member_define, alone");
  }
  MPI_Barrier(comm);
  success(Fenix_Data_member_restore(kGroup, kMember, kInPlace, kCount, kLatest, nullptr), "restore in place");
  success(Fenix_Data_member_restore(kGroup, kOther, kInPlace, kCount, kLatest, nullptr), "restore in place");
  expect(values, 2, "in place");
  expect(others, 7, "in place, by the serializer");
  expect_equal(calls, is_new() ? 1 : 0, "calls of the serializer");
  commit(kGroup, 3);
  // Members that are new are created by all ranks together.
  static Values more = values_of(rank, 4);
  success(Fenix_Data_member_create(kGroup, 7, more.data(), kCount, MPI_INT), "member_create of a new member");
  expect_equal(Fenix_Data_member_create(kGroup, 7, more.data(), kCount, MPI_INT), FENIX_ERROR_MEMBER_EXISTS,
               "member_create on all ranks, once more");
  commit(kGroup, 4);
  Values got{};
  success(restore(got, kLatest), "restore");
  expect(got, 4, "committed after the failure");
}

// -------------------------------------------------------------------------------------------------------------- targets

// A recovered rank that only restores stores from the target afterwards.
void check_targets() {
  create_group();
  values.fill(-1);
  Values part{};
  success(restore(values, kLatest), "restore");
  expect(values, 2, "restored");
  // Too small to store from.
  success(Fenix_Data_member_restore(kGroup, kOther, part.data(), kCount - 1, kLatest, nullptr), "restore of a part");
  Values elsewhere{};
  success(restore(elsewhere, 0), "restore into another buffer, which changes nothing");
  values = values_of(rank, 8);
  success(Fenix_Data_member_store(kGroup, kMember, FENIX_DATA_SUBSET_FULL), "store from the target of the restore");
  const int code = Fenix_Data_member_store(kGroup, kOther, FENIX_DATA_SUBSET_FULL);
  expect_equal(code, FENIX_ERROR_INVALID_ARGUMENT, "store of a member that was restored in part");
  success(Fenix_Data_commit_barrier(kGroup, nullptr), "commit_barrier");
  Values got{};
  success(restore(got, kLatest), "restore of what was stored");
  expect(got, 8, "stored from the target of the restore");
  if (is_new()) {
    success(Fenix_Data_member_create(kGroup, kMember, got.data(), kCount, MPI_INT), "member_create after the restore");
    got = values_of(rank, 9);
  } else {
    values = values_of(rank, 9);
  }
  success(Fenix_Data_member_store(kGroup, kMember, FENIX_DATA_SUBSET_FULL), "store from the buffer of member_create");
  success(Fenix_Data_commit_barrier(kGroup, nullptr), "commit_barrier");
  success(restore(elsewhere, kLatest), "restore of what was stored");
  expect(elsewhere, 9, "stored from the buffer of member_create");
}

// A member whose size may change: all that the snapshot has must have room in the target.
void store_growing(int snapshot, int code) {
  values = values_of(rank, snapshot);
  Fenix_Data_subset all;
  success(Fenix_Data_subset_create(1, 0, kCount - 1, 1, &all), "subset_create");
  expect_equal(Fenix_Data_member_store(kGroup, kMember, all), code, "store of a member that may change its size");
  success(Fenix_Data_subset_delete(&all), "subset_delete");
  if (code == FENIX_SUCCESS) success(Fenix_Data_commit_barrier(kGroup, nullptr), "commit_barrier");
}

void start_growing() {
  create_group();
  success(Fenix_Data_member_create(kGroup, kMember, values.data(), FENIX_RESIZEABLE, MPI_INT), "member_create");
  store_growing(1, FENIX_SUCCESS);
}

void check_growing() {
  create_group();
  Values part{};
  success(Fenix_Data_member_restore(kGroup, kMember, part.data(), kCount - 1, kLatest, nullptr), "restore of a part");
  store_growing(2, FENIX_ERROR_INVALID_ARGUMENT);
  success(restore(values, kLatest), "restore");
  expect(values, 1, "restored");
  store_growing(3, FENIX_SUCCESS);
  Values got{};
  success(restore(got, kLatest), "restore of what was stored");
  expect(got, 3, "stored from the target of the restore");
}

// ---------------------------------------------------------------------------------------------------------------- world

// Before any collective call, each rank by itself.
void check_untouched_world() {
  if (rank != 0) return;
  expect_equal(Fenix_Data_group_created(kWorld), 1, "group_created after Fenix_Init");
  expect_equal(Fenix_Data_member_created(kWorld, kMember), 0, "member_created after Fenix_Init");
  int number = -1;
  success(Fenix_Data_group_get_number_of_members(kWorld, &number), "number_of_members");
  expect_equal(number, 0, "members after Fenix_Init");
  success(Fenix_Data_group_get_number_of_snapshots(kWorld, &number), "number_of_snapshots");
  expect_equal(number, 0, "snapshots after Fenix_Init");
  int policy = 0;
  int separation[3] = {0, 0, 0};
  success(Fenix_Data_group_get_redundancy_policy(kWorld, &policy, separation, nullptr), "get_redundancy_policy");
  require(policy == FENIX_DATA_POLICY_PEER_RANK_SEPARATION && separation[0] == 1, "another policy");
  int flag = 7;
  expect_equal(Fenix_Data_member_attr_set(kWorld, kMember, kBuffer, values.data(), &flag), FENIX_ERROR_INVALID_MEMBERID,
               "attr_set without a member");
  expect_equal(Fenix_Data_member_stage(kWorld, kMember, FENIX_DATA_SUBSET_FULL), FENIX_ERROR_INVALID_MEMBERID,
               "stage without a member");
  expect_equal(Fenix_Data_snapshot_delete(kWorld, 0), FENIX_ERROR_NODATA_FOUND, "snapshot_delete without a snapshot");
  expect_equal(Fenix_Data_group_delete(kWorld), FENIX_ERROR_INVALID_GROUPID, "group_delete");
}

// The pattern of a program that need not know whether it has failed: the same calls on all ranks, and none for the group.
void provide(int member, Values& buffer) {
  if (Fenix_Data_member_created(kWorld, member) != 0) {
    int flag = 0;
    success(Fenix_Data_member_attr_set(kWorld, member, kBuffer, buffer.data(), &flag), "attr_set");
    expect_equal(flag, 1, "flag of attr_set");
  } else {
    success(Fenix_Data_member_create(kWorld, member, buffer.data(), kCount, MPI_INT), "member_create");
  }
}

void start_world() {
  check_untouched_world();
  provide(kMember, values);
  provide(kOther, others);
  commit(kWorld, 1);
}

// All ranks know the roles of all, also if a rank died while the group was taken up.
void expect_roles() {
  std::array<int, 3> roles{-1, -1, -1};
  MPI_Allgather(&role, 1, MPI_INT, roles.data(), 1, MPI_INT, comm);
  require(std::count(roles.begin(), roles.end(), FENIX_ROLE_RECOVERED_RANK) > 0, "nobody is recovered");
  for (int each = 0; each < 3; ++each) {
    int its_role = -1;
    success(Fenix_get_rank_role(comm, each, &its_role), "get_rank_role");
    expect_equal(its_role, roles[static_cast<std::size_t>(each)], "role of rank " + std::to_string(each));
  }
}

// Local calls work at once, on survivors and on replacements, one rank after the other.
void check_world() {
  expect_roles();
  for (int turn = 0; turn < 3; ++turn) {
    if (turn == rank) {
      expect_equal(Fenix_Data_group_created(kWorld), 1, "group_created after a repair");
      values.fill(-1);
      others.fill(-1);
      provide(kMember, values);
      provide(kOther, others);
      int number = -1;
      success(Fenix_Data_group_get_number_of_snapshots(kWorld, &number), "number_of_snapshots");
      expect_equal(number, 1, "snapshots after a repair");
      success(Fenix_Data_member_load_to(kWorld, kMember, values.data(), kCount, kLatest, nullptr), "load_to");
      expect(values, 1, "loaded");
      success(Fenix_Data_member_stage(kWorld, kMember, FENIX_DATA_SUBSET_FULL), "stage");
    }
    MPI_Barrier(comm);
  }
  success(Fenix_Data_member_store(kWorld, kMember, FENIX_DATA_SUBSET_PRESTAGED), "store of what was staged");
  success(Fenix_Data_member_restore(kWorld, kOther, kInPlace, kCount, kLatest, nullptr), "restore in place");
  expect(others, 6, "restored");
  success(Fenix_Data_commit_barrier(kWorld, nullptr), "commit_barrier");
  commit(kWorld, 3);
  Values got{};
  success(Fenix_Data_member_restore(kWorld, kMember, got.data(), kCount, kLatest, nullptr), "restore");
  expect(got, 3, "committed after the failure");
}

struct Case {
  const char* name;
  void (*start)();
  void (*check)();
};

constexpr Case kCases[] = {{"repair", start_group, check_repair},
                           {"create", start_group, check_create},
                           {"targets", start_group, check_targets},
                           {"growing", start_growing, check_growing},
                           {"world", start_world, check_world}};

}  // namespace

// The case that is tested, and the number of spares.
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int spares = argc > 2 ? std::atoi(argv[2]) : 1;
  int error = -1;
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, spares, &error);
  MPI_Comm_rank(comm, &rank);
  for (const Case& each : kCases) {
    if (argc < 2 || std::strcmp(argv[1], each.name) != 0) continue;
    if (role == FENIX_ROLE_INITIAL_RANK) {
      each.start();
      die();
    }
    each.check();
    // All spares were needed: a death that was meant to come has come.
    expect_equal(Fenix_get_nspare(), 0, "spares");
    Fenix_Finalize();
    check::ok(rank);
    MPI_Finalize();
    return 0;
  }
  check::fail("no such case");
}
