// SPDX-License-Identifier: BSD-3-Clause
// Each wrong argument gets its code and a text that names it, and harms nothing that is stored (P7).
//
//   bad_input             all rows but those that wait for FENIX_TIMEOUT
//   bad_input --timeouts  those
//   bad_input_checkpoints --checkpoints
//                         the rows that need libfenix_mpi
//   bad_input --check     whether the table itself is good: a row for each function, no row twice; needs no mpirun
//   bad_input --table     prints it as a page for the site; needs no mpirun
//   bad_input <text>      the rows with this text in their names
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>

#include "../check.hpp"
#include "rows.hpp"
#include "table.hpp"

namespace bad_input {

MPI_Comm comm = MPI_COMM_NULL;
int rank = -1;
double buffer[kCount];

bool first_of_two_kinds() { return rank == 1; }

int* good_policy() {
  static int values[] = {1, 1};
  return values;
}

Outcome with_new_member(void* source, const std::function<Outcome()>& body) {
  check::success(Fenix_Data_member_create(kGroup, kNew, source, kNewCount, MPI_DOUBLE),
                 "member_create of a new member");
  Outcome outcome = body();
  if (Fenix_Data_member_created(kGroup, kNew) == 1) {
    check::success(Fenix_Data_member_delete(kGroup, kNew), "member_delete of the new member");
  }
  return outcome;
}

Subset::Subset(int blocks, int first, int last, int stride) {
  check::success(Fenix_Data_subset_create(blocks, first, last, stride, &subset_), "subset_create");
}

Subset::~Subset() { (void)Fenix_Data_subset_delete(&subset_); }

namespace {

using check::expect_equal;
using check::require;
using check::success;

std::map<int, std::vector<double>> committed;  // by time stamp
int last_time_stamp = -1;
int fills = 0;

void create_group() {
  success(Fenix_Data_group_create(kGroup, comm, 0, 1, FENIX_DATA_POLICY_IMR, good_policy(), nullptr), "group_create");
  success(Fenix_Data_group_create(kOtherGroup, comm, 0, 1, FENIX_DATA_POLICY_IMR, good_policy(), nullptr),
          "group_create of the other group");
}

void store_new_values() {
  ++fills;
  for (int i = 0; i < kCount; ++i) buffer[i] = 1e6 * rank + 1e2 * fills + i;
  success(Fenix_Data_member_store(kGroup, kMember, FENIX_DATA_SUBSET_FULL), "store");
}

void commit() {
  int time_stamp = -1;
  success(Fenix_Data_commit_barrier(kGroup, &time_stamp), "commit_barrier");
  expect_equal(time_stamp, last_time_stamp + 1, "time stamp");
  last_time_stamp = time_stamp;
  committed[time_stamp].assign(buffer, buffer + kCount);
}

// The two latest snapshots, byte for byte.
void check_stored(const std::string& when) {
  int number = 0;
  success(Fenix_Data_group_get_number_of_snapshots(kGroup, &number), "number_of_snapshots " + when);
  expect_equal(number, 2, "number of snapshots " + when);
  for (int position = 0; position < number; ++position) {
    int time_stamp = -1;
    success(Fenix_Data_group_get_snapshot_at_position(kGroup, position, &time_stamp), "snapshot_at_position " + when);
    expect_equal(time_stamp, last_time_stamp - position, "time stamp " + when);
    double got[kCount] = {};
    success(Fenix_Data_member_restore(kGroup, kMember, got, kCount, time_stamp, FENIX_DATA_SUBSET_IGNORE),
            "restore " + when);
    require(std::memcmp(got, committed.at(time_stamp).data(), sizeof got) == 0, "stored data was harmed " + when);
  }
}

void expect(const Row& row, bool wrong, const Outcome& outcome) {
  expect_equal(outcome.code, row.code, "the code [" + outcome.text + "]");
  // A rank with right arguments hears of the wrong one, or finds the error itself, as when both store more than there is
  // memory for.
  const bool named = outcome.text.find(row.named) != std::string::npos;
  const bool rank_named = !wrong && outcome.text.find("rank 1") != std::string::npos;
  require(named || rank_named, "the text does not name " + row.named + ", but says: " + outcome.text);
}

// Calls at all ranks, or at rank 1 only, with the wrong argument.
void call(const Row& row, bool all_wrong) {
  if (rank == 0) {
    std::printf("row %s: %s%s\n", row.function.c_str(), row.argument.c_str(), all_wrong ? "" : ", on one rank only");
    std::fflush(stdout);
  }
  const bool wrong = all_wrong || first_of_two_kinds();
  try {
    expect(row, wrong, row.call(wrong));
  } catch (const std::exception& error) {
    check::fail(row.function + ": " + row.argument + ": " + error.what());
  }
}

void run(const Rows& rows, const std::string& filter, const std::function<void(const Row&, bool)>& test) {
  for (const Row& row : rows) {
    if ((row.function + ": " + row.argument).find(filter) == std::string::npos) continue;
    check::context() = row.function + ": " + row.argument + ": ";
    test(row, true);
    if (row.told == Told::all) test(row, false);
  }
  check::context().clear();
}

void test_before_start(const Row& row, bool all_wrong) {
  call(row, all_wrong);
  int flag = 7;
  success(Fenix_Initialized(&flag), "Fenix_Initialized");
  expect_equal(flag, 0, "Fenix_Initialized after an error of Fenix_Init");
}

// Stored data has to survive the row, committed or not.
void test_with_data(const Row& row, bool all_wrong) {
  store_new_values();
  call(row, all_wrong);
  check_stored("after the error");
  commit();
  check_stored("after the next commit");
}

// After a time-out the group has to be created again; what was not committed is gone.
void test_timeout(const Row& row, bool all_wrong) {
  store_new_values();
  MPI_Barrier(comm);
  call(row, all_wrong);
  MPI_Barrier(comm);
  create_group();
  check_stored("after the time-out");
  store_new_values();
  commit();
  check_stored("after the next commit");
}

void test_detached(const Row& row, bool all_wrong) { call(row, all_wrong); }

void prepare() {
  create_group();
  success(Fenix_Data_member_create(kGroup, kMember, buffer, kCount, MPI_DOUBLE), "member_create");
  static char bytes[16];
  success(Fenix_Data_member_create(kGroup, kGrowing, bytes, FENIX_RESIZEABLE, MPI_BYTE), "member_create, resizeable");
  success(Fenix_Data_member_create(kOtherGroup, kMember, buffer, kCount, MPI_DOUBLE), "member_create, other group");
  for (int i = 0; i < 2; ++i) {
    store_new_values();
    commit();
  }
  check_stored("at the start");
}

Rows common_rows() {
  Rows rows;
  for (const auto add : {add_process_rows, add_group_rows, add_member_rows, add_attribute_rows, add_subset_rows,
                         add_staging_rows, add_storing_rows, add_committing_rows, add_restoring_rows, add_store_rows,
                         add_rows_without_library, add_common_rows}) {
    add(rows);
  }
  return rows;
}

Rows all_rows() {
  Rows rows;
  for (const Rows& part : {outside_rows("before Fenix_Init"), init_rows(), common_rows(), rows_with_library(),
                           timeout_rows(), detached_rows(), outside_rows("after Fenix_Finalize")}) {
    rows.insert(rows.end(), part.begin(), part.end());
  }
  return rows;
}

void test_timeouts(const std::string& filter) {
  run(timeout_rows(), filter, test_timeout);
  // One rank comes when the others have given up: all have to create the group again.
  static double target[kCount];
  for (const bool turn : {false, true}) {
    if (first_of_two_kinds() == turn) {
      expect_equal(Fenix_Data_member_restore(kGroup, kMember, target, kCount, FENIX_DATA_SNAPSHOT_LATEST, nullptr),
                   FENIX_ERROR_TIMEOUT, "restore without rank 1");
    }
    MPI_Barrier(comm);
  }
  run(detached_rows(), filter, test_detached);
  create_group();
  check_stored("after all that");
}

int test(int argc, char** argv, const std::string& argument) {
  const bool timeouts = argument == "--timeouts";
  const bool checkpoints = argument == "--checkpoints";
  const bool is_plain = !timeouts && !checkpoints;
  const std::string filter = is_plain ? argument : "";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (is_plain) {
    run(outside_rows("before Fenix_Init"), filter, test_before_start);
    run(init_rows(), filter, test_before_start);
  }
  static int role = -1;
  static int error = 0;
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, nullptr, nullptr, 1, &error);
  success(error, "Fenix_Init");
  prepare();
  if (timeouts) {
    test_timeouts("");
  } else if (checkpoints) {
    run(rows_with_library(), filter, test_with_data);
  } else {
    run(common_rows(), filter, test_with_data);
  }
  success(Fenix_Finalize(), "Fenix_Finalize");
  if (is_plain) run(outside_rows("after Fenix_Finalize"), filter, [](const Row& row, bool) { call(row, true); });
  check::ok(rank);
  MPI_Finalize();
  return 0;
}

}  // namespace
}  // namespace bad_input

int main(int argc, char** argv) {
  const std::string argument = argc > 1 ? argv[1] : "";
  if (argument != "--check" && argument != "--table") return bad_input::test(argc, argv, argument);
  const auto rows = bad_input::all_rows();
  if (argument == "--table") bad_input::print_table(rows);
  return bad_input::is_good(rows) ? 0 : 1;
}
