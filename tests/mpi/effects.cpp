// SPDX-License-Identifier: BSD-3-Clause
// Functions that return FENIX_SUCCESS have done something: the effects that no other test program looks at, those of the
// large counts among them. 3 ranks and a spare; rank 1 dies.
#include <array>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <limits>
#include <vector>

#include "check.hpp"

namespace {

using check::expect_equal;
using check::require;
using check::success;

constexpr int kGroup = 1;
constexpr int kWorld = FENIX_DATA_GROUP_WORLD_ID;
constexpr int kCount = 12;
constexpr int kLatest = FENIX_DATA_SNAPSHOT_LATEST;

using Values = std::array<double, kCount>;

MPI_Comm comm = MPI_COMM_NULL;
int rank = -1;
int role = -1;
int error = -1;
int called = 0;  // by callbacks

Values values_of(int owner, int member) {
  Values values{};
  for (int i = 0; i < kCount; ++i) values[static_cast<std::size_t>(i)] = owner * 1000 + member * 100 + i;
  return values;
}

// Serializers that write the numbers with the other sign, so that a plain copy would show.
template <class Number>
void turn_sign(std::FILE* file, int direction, void* buffer, Number offset, Number count, void* ctx) {
  ++*static_cast<int*>(ctx);
  double* values = static_cast<double*>(buffer) + offset;
  for (Number i = 0; i < count; ++i) {
    double value = direction == FENIX_SERIALIZE ? -values[i] : 0;
    if (direction == FENIX_SERIALIZE) {
      std::fwrite(&value, sizeof value, 1, file);
    } else if (std::fread(&value, sizeof value, 1, file) == 1) {
      values[i] = -value;
    }
  }
}

void check_settings() {
  unsigned before = 99;
  success(Fenix_get_option(FENIX_UNHANDLED_MODE, &before), "get_option");
  expect_equal(before, FENIX_UNHANDLED_ABORT, "unhandled mode");
  success(Fenix_set_option(FENIX_UNHANDLED_MODE, FENIX_UNHANDLED_PRINT), "set_option");
  unsigned after = 99;
  success(Fenix_get_option(FENIX_UNHANDLED_MODE, &after), "get_option");
  expect_equal(after, FENIX_UNHANDLED_PRINT, "unhandled mode that was set");
  // The test looks for the text in the output.
  expect_equal(MPI_Send(nullptr, 0, MPI_INT, 4711, 0, comm), MPI_ERR_RANK, "MPI_Send to a rank that does not exist");
  success(Fenix_set_option(FENIX_UNHANDLED_MODE, before), "set_option");
}

void check_life(int initialized, int finalized) {
  int flag = 7;
  success(Fenix_Initialized(&flag), "Initialized");
  expect_equal(flag, initialized, "Initialized");
  success(Fenix_Finalized(&flag), "Finalized");
  expect_equal(flag, finalized, "Finalized");
}

// ---------------------------------------------------------------------------------------------------------------- groups

void check_policy(int name, int wanted_first, int wanted_second) {
  int got = 0;
  int values[3] = {-1, -1, -1};
  int flag = 7;
  success(Fenix_Data_group_get_redundancy_policy(kGroup, &got, values, &flag), "get_redundancy_policy");
  require(got == name && flag == FENIX_SUCCESS && values[0] == wanted_first && values[1] == wanted_second,
          "another policy");
}

void check_groups() {
  expect_equal(Fenix_Data_group_created(kGroup), 0, "group_created before");
  int two[] = {1, 2};
  success(Fenix_Data_group_create(kGroup, comm, 0, 0, FENIX_DATA_POLICY_IMR, two, nullptr), "group_create");
  expect_equal(Fenix_Data_group_created(kGroup), 1, "group_created");
  check_policy(FENIX_DATA_POLICY_IMR, 1, 2);
  int flag = 0;
  int one[] = {1};
  success(Fenix_Data_group_set_redundancy_policy(kGroup, FENIX_DATA_POLICY_PEER_RANK_SEPARATION, one, &flag),
          "set_redundancy_policy");
  expect_equal(flag, 1, "flag of set_redundancy_policy");
  check_policy(FENIX_DATA_POLICY_PEER_RANK_SEPARATION, 1, -1);
  // In use: rank 1 will be dead, and its data with rank 2.
  success(Fenix_Data_group_delete(kGroup), "group_delete");
  expect_equal(Fenix_Data_group_created(kGroup), 0, "group_created after group_delete");
  success(Fenix_Data_barrier(kGroup), "barrier");
  success(Fenix_Data_group_create(kGroup, comm, 5, 0, FENIX_DATA_POLICY_IMR, nullptr, nullptr), "group_create anew");
}

// --------------------------------------------------------------------------------------------------------------- members

std::vector<double> found(int member, int (*restore)(int member, double* target), const char* call) {
  std::vector<double> target(kCount, -1);
  success(restore(member, target.data()), call);
  return target;
}

void expect_values(const std::vector<double>& got, int owner, int member, const char* call) {
  const Values wanted = values_of(owner, member);
  require(std::memcmp(got.data(), wanted.data(), sizeof wanted) == 0, std::string(call) + " gave other values");
}

// Stores with each way of making a member; all stored values follow from rank and member.
void store_members() {
  static std::array<Values, 5> buffers;
  static int calls[3] = {0, 0, 0};
  for (int member = 0; member < 5; ++member) {
    buffers[static_cast<std::size_t>(member)] = values_of(rank, member);
  }
  const auto buffer = [](std::size_t member) { return buffers[member].data(); };
  success(Fenix_Data_member_create_c(kGroup, 0, buffer(0), kCount, MPI_DOUBLE), "member_create_c");
  success(Fenix_Data_member_fcreate(kGroup, 1, buffer(1), kCount, MPI_DOUBLE, turn_sign<int>, calls), "fcreate");
  success(Fenix_Data_member_fcreate_c(kGroup, 2, buffer(2), kCount, MPI_DOUBLE, turn_sign<MPI_Count>, calls + 1),
          "fcreate_c");
  void* base = nullptr;
  void* known = nullptr;
  success(Fenix_Data_member_allocate_c(kGroup, 4, kCount, MPI_DOUBLE, &base), "allocate_c");
  success(Fenix_Data_member_attr_get(kGroup, 4, FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER, &known, nullptr, rank), "attr_get");
  require(base != nullptr && known == base, "the buffer of allocate_c");
  success(Fenix_Data_barrier(kGroup), "barrier");
  success(Fenix_Data_member_delete(kGroup, 4), "delete of what was allocated");
  success(Fenix_Data_barrier(kGroup), "barrier");
  success(Fenix_Data_member_define_c(kGroup, 3, nullptr, kCount - 1, MPI_DOUBLE), "define_c, to create");
  success(Fenix_Data_member_define_c(kGroup, 3, buffer(3), kCount - 2, MPI_DOUBLE), "define_c, to change");
  MPI_Count count = kCount;
  int flag = 0;
  success(Fenix_Data_member_attr_set_c(kGroup, 3, FENIX_DATA_MEMBER_ATTRIBUTE_COUNT, &count, &flag), "attr_set_c");
  expect_equal(flag, 1, "flag of attr_set_c");
  MPI_Count too_many = std::numeric_limits<MPI_Count>::max() / 2;
  expect_equal(Fenix_Data_member_attr_set_c(kGroup, 3, FENIX_DATA_MEMBER_ATTRIBUTE_COUNT, &too_many, &flag),
               FENIX_ERROR_INVALID_ATTRIBUTE_VALUE, "attr_set_c of more than any memory");
  success(Fenix_Data_member_fdefine_c(kGroup, 4, buffer(4), kCount, MPI_DOUBLE, turn_sign<MPI_Count>, calls + 2),
          "fdefine_c");
  MPI_Count starts[] = {0, kCount / 2};
  MPI_Count ends[] = {kCount / 2 - 1, kCount - 1};
  Fenix_Data_subset all{};
  success(Fenix_Data_subset_createv_c(2, starts, ends, &all), "subset_createv_c");
  Fenix_Data_subset touching{};
  success(Fenix_Data_subset_create_c(2, 0, kCount / 2 - 1, kCount / 2, &touching),
          "subset_create_c of blocks that touch");
  for (int member = 0; member < 5; ++member) {
    const Fenix_Data_subset which = member == 0 ? all : member == 1 ? touching : FENIX_DATA_SUBSET_FULL;
    success(Fenix_Data_member_store(kGroup, member, which), "store");
  }
  success(Fenix_Data_subset_delete(&all), "subset_delete");
  success(Fenix_Data_subset_delete(&touching), "subset_delete");
  int time_stamp = -1;
  success(Fenix_Data_commit_barrier(kGroup, &time_stamp), "commit_barrier");
  expect_equal(time_stamp, 5, "time stamp");
  for (const int number : calls) require(number > 0, "a serializer was not called");
}

void check_members() {
  for (int member = 0; member < 5; ++member) {
    MPI_Count count = 0;
    int flag = 0;
    success(Fenix_Data_member_attr_get_c(kGroup, member, FENIX_DATA_MEMBER_ATTRIBUTE_COUNT, &count, &flag, 0),
            "attr_get_c");
    expect_equal(static_cast<long>(count), kCount, "count");
    const bool plain = member == 0 || member == 3;
    if (!plain) continue;
    const auto lrestore = [](int id, double* to) {
      return Fenix_Data_member_lrestore_c(kGroup, id, to, kCount, kLatest, nullptr);
    };
    const auto load = [](int id, double* to) { return Fenix_Data_member_load_to(kGroup, id, to, kCount, 5, nullptr); };
    const auto load_c = [](int id, double* to) {
      return Fenix_Data_member_load_to_c(kGroup, id, to, kCount, 5, nullptr);
    };
    const auto from_next = [](int id, double* to) {
      return Fenix_Data_member_restore_from_rank_c(kGroup, id, to, kCount, 5, nullptr, (rank + 1) % 3);
    };
    expect_values(found(member, lrestore, "lrestore_c"), rank, member, "lrestore_c");
    expect_values(found(member, load, "load_to"), rank, member, "load_to");
    expect_values(found(member, load_c, "load_to_c"), rank, member, "load_to_c");
    expect_values(found(member, from_next, "restore_from_rank_c"), (rank + 1) % 3, member, "restore_from_rank_c");
  }
}

// Members whose elements are written by serializers: they are what they were only if serializers read them, too.
void check_serialized() {
  const auto restore = [](int id, double* to) {
    return Fenix_Data_member_restore_c(kGroup, id, to, kCount, kLatest, nullptr);
  };
  for (const int member : {1, 2, 4}) {
    expect_values(found(member, restore, "restore_c"), rank, member, "restore_c");
    std::array<double, kCount> raw{};
    std::FILE* file = nullptr;
    success(Fenix_Data_member_load_begin(kGroup, member, &file, kLatest, nullptr), "load_begin");
    require(std::fread(raw.data(), sizeof raw, 1, file) == 1, "a short file");
    success(Fenix_Data_member_load_end(kGroup, member), "load_end");
    require(raw[3] == -values_of(rank, member)[3], "the serializer was not used");
  }
}

// A store that takes a while: the commit is refused unless the wait, or the test, has seen its end.
void check_requests() {
  constexpr int kSlow = 3;
  constexpr std::size_t kElements = std::size_t{1} << 22;
  static std::vector<double> large;
  large.assign(kElements, rank);
  success(Fenix_Data_group_create(kSlow, comm, 0, 0, FENIX_DATA_POLICY_IMR, nullptr, nullptr), "group_create");
  success(Fenix_Data_member_create(kSlow, 0, large.data(), static_cast<int>(kElements), MPI_DOUBLE), "member_create");
  Fenix_Request request = FENIX_REQUEST_NULL;
  for (int round = 0; round < 2; ++round) {
    large.back() = 10 * rank + round;
    success(Fenix_Data_member_istore(kSlow, 0, FENIX_DATA_SUBSET_FULL, &request), "istore");
    if (round == 0) success(Fenix_Data_wait(request), "wait");
    for (int flag = round == 0 ? 1 : 0; flag == 0;) {
      flag = 7;
      success(Fenix_Data_test(request, &flag), "test");
      require(flag == 0 || flag == 1, "flag of test");
    }
    success(Fenix_Data_commit_barrier(kSlow, nullptr), "commit_barrier after an asynchronous store");
    large.back() = -1;
    success(Fenix_Data_member_load(kSlow, 0, kLatest, nullptr), "load");
    expect_equal(static_cast<long>(large.back()), 10 * rank + round, "last element");
  }
  success(Fenix_Data_group_delete(kSlow), "group_delete");
  success(Fenix_Data_barrier(kSlow), "barrier");
  large.clear();
  large.shrink_to_fit();
}

// The group that need not be created: depth 0, from time stamp 0.
void check_world_group() {
  static int value = 0;
  value = 40 + rank;
  success(Fenix_Data_member_create(kWorld, 0, &value, 1, MPI_INT), "member_create in the group of all");
  for (int commit = 0; commit < 2; ++commit) {
    int time_stamp = -1;
    success(Fenix_Data_checkpoint(kWorld, FENIX_DATA_SUBSET_FULL, FENIX_STOREV_ALL, nullptr, &time_stamp),
            "checkpoint");
    expect_equal(time_stamp, commit, "time stamp");
  }
  success(Fenix_Data_commit_barrier(kWorld, nullptr), "commit_barrier");
  expect_equal(Fenix_Data_group_delete(kWorld), FENIX_ERROR_INVALID_GROUPID, "group_delete of the group of all");
  expect_equal(Fenix_Data_group_created(kWorld), 1, "the group of all after that");
  int snapshots = 0;
  success(Fenix_Data_group_get_number_of_snapshots(kWorld, &snapshots), "number_of_snapshots");
  expect_equal(snapshots, 1, "snapshots at depth 0");
}

// ----------------------------------------------------------------------------------------------------- what goes away

void expect_snapshots(int group, const std::vector<int>& wanted, const char* when) {
  int number = -1;
  success(Fenix_Data_group_get_number_of_snapshots(group, &number), "number_of_snapshots");
  expect_equal(number, static_cast<long>(wanted.size()), std::string("snapshots ") + when);
  for (int position = 0; position < number; ++position) {
    int time_stamp = -1;
    success(Fenix_Data_group_get_snapshot_at_position(group, position, &time_stamp), "snapshot_at_position");
    expect_equal(time_stamp, wanted[static_cast<std::size_t>(position)], std::string("time stamp ") + when);
  }
}

void expect_gone(int group, int time_stamp, const char* when) {
  expect_equal(Fenix_Data_snapshot_delete(group, time_stamp), FENIX_ERROR_INVALID_TIMESTAMP,
               std::string("deletion of what is gone ") + when);
}

// Snapshots that are too old, that one rank has deleted, and members that one rank has deleted.
void check_removal() {
  constexpr int kPassing = 2;
  static int values[2] = {0, 0};
  success(Fenix_Data_group_create(kPassing, comm, 0, 2, FENIX_DATA_POLICY_IMR, nullptr, nullptr), "group_create");
  for (const int member : {0, 1}) {
    success(Fenix_Data_member_create(kPassing, member, &values[member], 1, MPI_INT), "member_create");
  }
  int time_stamp = -1;
  for (int commit = 0; commit < 5; ++commit) {
    success(Fenix_Data_member_store(kPassing, FENIX_DATA_MEMBER_ALL, FENIX_DATA_SUBSET_FULL), "store");
    const bool cleanup_follows = commit % 2 == 0;
    const auto call = cleanup_follows ? Fenix_Data_commit : Fenix_Data_commit_cleanup;
    success(call(kPassing, &time_stamp), "commit or commit_cleanup");
    if (cleanup_follows) success(Fenix_Data_cleanup(kPassing), "cleanup");
    expect_equal(time_stamp, commit, "time stamp");
  }
  MPI_Barrier(comm);
  success(Fenix_Data_cleanup(kPassing), "cleanup");
  expect_snapshots(kPassing, {4, 3, 2}, "after cleanup");
  expect_gone(kPassing, 1, "after cleanup");
  int value = 0;
  expect_equal(Fenix_Data_member_restore(kPassing, 0, &value, 1, 1, nullptr), FENIX_ERROR_NODATA_FOUND, "restore of 1");

  if (rank == 0) {
    success(Fenix_Data_snapshot_delete(kPassing, 3), "snapshot_delete");
    expect_snapshots(kPassing, {4, 2}, "after snapshot_delete");
    success(Fenix_Data_member_delete(kPassing, 1), "member_delete");
  }
  expect_equal(Fenix_Data_member_created(kPassing, 1), rank == 0 ? 0 : 1, "member_created after member_delete");
  success(Fenix_Data_barrier(kPassing), "barrier");
  expect_snapshots(kPassing, {4, 2}, "after the barrier");
  expect_gone(kPassing, 3, "after the barrier");
  expect_equal(Fenix_Data_member_created(kPassing, 1), 0, "member_created after the barrier");
  int members = -1;
  int id = -1;
  success(Fenix_Data_group_get_number_of_members(kPassing, &members), "number_of_members");
  expect_equal(members, 1, "members after the barrier");
  success(Fenix_Data_group_get_member_at_position(kPassing, &id, 0), "member_at_position");
  expect_equal(id, 0, "the member that is left");
}

// ----------------------------------------------------------------------------------------------------- after the failure

void check_roles() {
  expect_equal(Fenix_get_role(), role, "get_role");
  expect_equal(role, rank == 1 ? FENIX_ROLE_RECOVERED_RANK : FENIX_ROLE_SURVIVOR_RANK, "role");
  int other = -1;
  success(Fenix_get_rank_role(comm, 1, &other), "get_rank_role");
  expect_equal(other, FENIX_ROLE_RECOVERED_RANK, "role of rank 1");
  int number = -1;
  success(Fenix_get_number_of_ranks_with_role(FENIX_ROLE_SURVIVOR_RANK, &number), "number_of_ranks_with_role");
  expect_equal(number, 2, "survivors");
}

void check_data() {
  success(Fenix_Data_group_create(kGroup, comm, 0, 0, FENIX_DATA_POLICY_IMR, nullptr, nullptr), "group_create");
  static int calls[3] = {0, 0, 0};
  static std::array<Values, 3> buffers;
  // A replacement has no serializers until it gives them.
  success(Fenix_Data_member_fdefine(kGroup, 1, buffers[0].data(), kCount, MPI_DOUBLE, turn_sign<int>, calls),
          "fdefine");
  success(
      Fenix_Data_member_fdefine_c(kGroup, 2, buffers[1].data(), kCount, MPI_DOUBLE, turn_sign<MPI_Count>, calls + 1),
      "fdefine_c");
  success(
      Fenix_Data_member_fdefine_c(kGroup, 4, buffers[2].data(), kCount, MPI_DOUBLE, turn_sign<MPI_Count>, calls + 2),
      "fdefine_c");
  check_members();
  check_serialized();
  int value = 0;
  success(Fenix_Data_member_restore(kWorld, 0, &value, 1, kLatest, nullptr), "restore from the group of all");
  expect_equal(value, 40 + rank, "value in the group of all");
}

void callback(MPI_Comm, int, void* number) { ++*static_cast<int*>(number); }

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  check_life(0, 0);
  static MPI_Request sent = MPI_REQUEST_NULL;
  static MPI_Request never = MPI_REQUEST_NULL;
  static int message = 0;
  static int received = 0;
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 1, &error);
  MPI_Comm_rank(comm, &rank);
  check_life(1, 0);
  if (role == FENIX_ROLE_INITIAL_RANK) {
    expect_equal(Fenix_get_role(), FENIX_ROLE_INITIAL_RANK, "get_role");
    check_settings();
    check_groups();
    store_members();
    check_members();
    check_serialized();
    check_requests();
    check_world_group();
    check_removal();
    success(Fenix_Callback_register(callback, &called), "callback_register");
    // One request is complete when rank 1 dies, one can never be.
    MPI_Isend(&message, 1, MPI_INT, rank, 1, comm, &sent);
    MPI_Recv(&received, 1, MPI_INT, rank, 1, comm, MPI_STATUS_IGNORE);
    MPI_Irecv(&received, 1, MPI_INT, 1, 2, comm, &never);
    MPI_Barrier(comm);
    if (rank == 1) raise(SIGKILL);
    MPI_Barrier(comm);
    check::fail("a barrier without rank 1");
  }
  check_roles();
  if (role == FENIX_ROLE_SURVIVOR_RANK) {
    expect_equal(called, 1, "calls of the callback");
    success(Fenix_Callback_invoke_all(), "callback_invoke_all");
    expect_equal(called, 2, "calls of the callback after invoke_all");
    expect_equal(Fenix_check_cancelled(&sent, MPI_STATUS_IGNORE), 0, "check_cancelled of a request that completed");
    expect_equal(Fenix_check_cancelled(&never, MPI_STATUS_IGNORE), 1, "check_cancelled of a receive from the dead");
  }
  check_data();
  success(Fenix_Finalize(), "Fenix_Finalize");
  check_life(1, 1);
  check::ok(rank);
  MPI_Finalize();
  return 0;
}
