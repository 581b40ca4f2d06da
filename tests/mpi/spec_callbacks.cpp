// SPDX-License-Identifier: BSD-3-Clause
// <fenix/spec.h>: process recovery as specification 1.0 describes it. Ranks, roles and errors after each repair; callbacks, and
// the ranks that call them. MPI errors that are no failures are returned. 5 ranks, one of them spare;
// rank 1 dies, and then rank 2 without a spare.
// usage: spec_callbacks [spawn KEY VALUE]  3 ranks, none of them spare, rank 1 dies; KEY and VALUE of info are for spawning
#include <fenix/spec.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "check.hpp"

namespace {

using check::expect_equal;
using check::require;
using check::success;

using Clock = std::chrono::steady_clock;

constexpr int kLateRank = 3;
constexpr std::chrono::milliseconds kDelay{400};

MPI_Comm comm = MPI_COMM_NULL;
int role = -1;
int error = 0;
int rank = -1;
int first_rank = -1;
int size = 0;
int exits = 0;   // from Fenix_Init
int before = 0;  // what was computed before Fenix_Init
int errors = 0;  // sum of what the callbacks got
int called_without_data = 0;
long late = 0;  // when the late rank has returned control
std::string called;

// The same clock on all ranks of a node.
long now() { return static_cast<long>(Clock::now().time_since_epoch().count()); }

int size_of(MPI_Comm any) {
  int number = 0;
  MPI_Comm_size(any, &number);
  return number;
}

void note(MPI_Comm newcomm, int fenix_error, void* name) {
  require(newcomm == comm, "communicator of a callback");
  require(size_of(newcomm) == (fenix_error == FENIX_SUCCESS ? 4 : 3), "the communicator is not repaired in a callback");
  // Control resumes after all callbacks.
  require(exits == (fenix_error == FENIX_SUCCESS ? 1 : 2), "a callback after the exit from Fenix_Init");
  called += static_cast<const char*>(name);
  errors += fenix_error;
}

void note_null(MPI_Comm, int, void* data) {
  require(data == nullptr, "data of a callback");
  ++called_without_data;
}

void die(int victim) {
  MPI_Barrier(comm);
  if (rank == victim) raise(SIGKILL);
  if (rank == kLateRank) std::this_thread::sleep_for(kDelay);
  late = now();
  MPI_Barrier(comm);
  check::fail("a barrier without a rank");
}

// Roles are known without communication: only one rank asks.
void expect_roles(const std::vector<int>& wanted) {
  if (rank != 0) return;
  std::vector<int> numbers(3, 0);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    int got = -1;
    success(Fenix_Get_role(comm, static_cast<int>(i), &got), "Get_role");
    expect_equal(got, wanted[i], "role of rank " + std::to_string(i));
    ++numbers[static_cast<std::size_t>(got)];
  }
  for (const int each : {FENIX_ROLE_INITIAL_RANK, FENIX_ROLE_RECOVERED_RANK, FENIX_ROLE_SURVIVOR_RANK}) {
    int number = -1;
    success(Fenix_Get_number_of_ranks_with_role(comm, each, &number), "number_of_ranks_with_role");
    expect_equal(number, numbers[static_cast<std::size_t>(each)], "ranks with role " + std::to_string(each));
  }
}

// The ranks are those that began with these numbers; -1 is the one that was spare.
void expect_order(const std::vector<int>& wanted) {
  expect_equal(size, static_cast<long>(wanted.size()), "size of the communicator");
  std::vector<int> got(wanted.size(), -2);
  MPI_Allgather(&first_rank, 1, MPI_INT, got.data(), 1, MPI_INT, comm);
  require(got == wanted, "another order of ranks");
}

void expect_same_error() {
  int least = 0;
  int most = 0;
  MPI_Allreduce(&error, &least, 1, MPI_INT, MPI_MIN, comm);
  MPI_Allreduce(&error, &most, 1, MPI_INT, MPI_MAX, comm);
  expect_equal(least, most, "error of another rank");
}

void register_callbacks() {
  static char a[] = "a";
  static char b[] = "b";
  static char c[] = "c";
  success(Fenix_Callback_register(note, a), "callback_register");
  success(Fenix_Callback_register(note, b), "callback_register");
  success(Fenix_Callback_register(note_null, nullptr), "callback_register without data");
  // Not collective.
  if (rank == 0) success(Fenix_Callback_register(note, c), "callback_register on one rank");
  expect_equal(Fenix_Callback_register(nullptr, nullptr), FENIX_ERROR_CALLBACK_NOT_REGISTERED,
               "callback_register of NULL");
}

void expect_called(int times) {
  if (exits == 1) {
    require(called.empty(), "callbacks on a rank that was not there to register them: " + called);
    return;
  }
  std::string wanted;
  for (int i = 0; i < times; ++i) wanted += rank == 0 ? "abc" : "ab";
  require(called == wanted, "callbacks: " + called);
  expect_equal(called_without_data, times, "calls without data");
}

constexpr int kGroup = 1;
int stored = -1;

int value_of(int owner) { return 100 + owner; }

void store_number() {
  success(Fenix_Data_group_create(kGroup, comm, 0, 0), "group_create");
  success(Fenix_Data_member_create(kGroup, 0, &stored, 1, MPI_INT), "member_create");
  stored = value_of(rank);
  success(Fenix_Data_member_store(kGroup, 0, FENIX_DATA_SUBSET_FULL), "store");
  success(Fenix_Data_commit_barrier(kGroup, nullptr), "commit_barrier");
}

void restore_number() {
  int got = -1;
  success(Fenix_Data_group_create(kGroup, comm, 0, 0), "group_create");
  success(Fenix_Data_member_restore(kGroup, 0, &got, 1, FENIX_DATA_SNAPSHOT_LATEST), "restore");
  expect_equal(got, value_of(rank), "what was restored");
}

// Only by rank, the number being that in the communicator that stored; also what the dead had stored.
void restore_after_shrinking() {
  int got = -1;
  success(Fenix_Data_group_create(kGroup, comm, 0, 0), "group_create");
  expect_equal(Fenix_Data_member_restore(kGroup, 0, &got, 1, FENIX_DATA_SNAPSHOT_LATEST), FENIX_ERROR_NODATA_FOUND,
               "restore on a shrunk communicator");
  expect_equal(got, -1, "target of that");
  for (int shift = 0; shift < 4; ++shift) {
    const int source = (rank + shift) % 4;
    success(Fenix_Data_member_restore_from_rank(kGroup, 0, &got, 1, FENIX_DATA_SNAPSHOT_LATEST, source), "from_rank");
    expect_equal(got, value_of(source), "what rank " + std::to_string(source) + " stored");
  }
  expect_equal(Fenix_Data_member_restore_from_rank(kGroup, 0, &got, 1, FENIX_DATA_SNAPSHOT_LATEST, 4),
               FENIX_ERROR_INVALID_ARGUMENT, "restore_from_rank of a rank that never was");
}

void first_life() {
  register_callbacks();
  store_number();
  int error_class = MPI_SUCCESS;
  MPI_Error_class(MPI_Send(&rank, 1, MPI_INT, 99, 0, comm), &error_class);
  expect_equal(error_class, MPI_ERR_RANK, "error of a send to a rank that does not exist");
  expect_order({0, 1, 2, 3});
  expect_roles(std::vector<int>(4, FENIX_ROLE_INITIAL_RANK));
  expect_same_error();
  die(1);
}

// No rank leaves Fenix_Init before the late rank, which computes for a while, has returned control.
void second_life(long left) {
  expect_equal(size, 4, "size with a spare");
  expect_equal(role, first_rank == -1 ? FENIX_ROLE_RECOVERED_RANK : FENIX_ROLE_SURVIVOR_RANK, "role");
  expect_called(1);
  MPI_Bcast(&late, 1, MPI_LONG, kLateRank, comm);
  require(left >= late, "a rank has left Fenix_Init before all had returned control");
  expect_order({0, -1, 2, 3});
  expect_roles(
      {FENIX_ROLE_SURVIVOR_RANK, FENIX_ROLE_RECOVERED_RANK, FENIX_ROLE_SURVIVOR_RANK, FENIX_ROLE_SURVIVOR_RANK});
  expect_same_error();
  restore_number();
  die(2);
}

// The communicator has shrunk: the others follow each other. The one that was recovered is a survivor now.
void third_life() {
  expect_equal(error, FENIX_WARNING_SPARE_RANKS_DEPLETED, "error");
  expect_equal(role, FENIX_ROLE_SURVIVOR_RANK, "role");
  expect_order({0, -1, 3});
  expect_roles(std::vector<int>(3, FENIX_ROLE_SURVIVOR_RANK));
  expect_same_error();
  restore_after_shrinking();
  if (first_rank == -1) {
    require(called.empty(), "callbacks on a rank that has registered none: " + called);
    return;
  }
  expect_called(2);
  expect_equal(errors, (rank == 0 ? 3 : 2) * FENIX_WARNING_SPARE_RANKS_DEPLETED, "sum of the errors of callbacks");
}

// The processes that are spawned begin with main, in the folder that info names.
void check_spawned(std::string_view key, const char* value) {
  expect_same_error();
  if (key == "host") {
    expect_equal(error, FENIX_ERROR_SPAWNING_FAILED, "error");
    expect_order({0, 2});
    expect_equal(called_without_data, 1, "calls of a callback");
    return;
  }
  success(error, "error of Fenix_Init");
  expect_order({0, -1, 2});
  expect_roles({FENIX_ROLE_SURVIVOR_RANK, FENIX_ROLE_RECOVERED_RANK, FENIX_ROLE_SURVIVOR_RANK});
  expect_equal(called_without_data, first_rank == -1 ? 0 : 1, "calls of a callback");
  if (first_rank != -1) return;
  char folder[4096] = "";
  require(getcwd(folder, sizeof folder) != nullptr && std::strcmp(folder, value) == 0,
          std::string("folder of a process that was spawned: ") + folder);
}

void life_with_spawning(const char* key, const char* value) {
  if (role == FENIX_ROLE_INITIAL_RANK) {
    success(Fenix_Callback_register(note_null, nullptr), "callback_register");
    die(1);
  }
  check_spawned(key, value);
}

void life(long left) {
  if (role == FENIX_ROLE_INITIAL_RANK) first_life();
  if (error == FENIX_SUCCESS) second_life(left);
  third_life();
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  static const bool spawns = argc > 3;
  // All processes compute this, spares as well.
  before = 42;
  int flag = 7;
  success(Fenix_Initialized(&flag), "Initialized");
  expect_equal(flag, 0, "Initialized before Fenix_Init");
  static MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, spawns ? argv[2] : "resume_mode", spawns ? argv[3] : "fenix_init");
  // The key is stronger.
  if (!spawns) success(Fenix_set_option(FENIX_RESUME_MODE, FENIX_RESUME_RETURN), "set_option");
  Fenix_Init(MPI_COMM_WORLD, &comm, &role, nullptr, nullptr, spawns ? 0 : 1, spawns ? 1 : 0, info, &error);
  const long left = now();
  ++exits;
  MPI_Comm_rank(comm, &rank);
  size = size_of(comm);
  if (role == FENIX_ROLE_INITIAL_RANK) first_rank = rank;
  expect_equal(before, 42, "a variable that was set before Fenix_Init");
  success(Fenix_Initialized(&flag), "Initialized");
  expect_equal(flag, 1, "Initialized after Fenix_Init");
  spawns ? life_with_spawning(argv[2], argv[3]) : life(left);
  success(Fenix_Finalize(), "Fenix_Finalize");
  check::ok(rank);
  MPI_Finalize();
  return 0;
}
