// SPDX-License-Identifier: BSD-3-Clause
// Each function of the store does what it says. 3 ranks use Fenix twice, as two jobs would: the second use goes on from what the
// first one has flushed.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "check.hpp"
#include "store_folder.hpp"

namespace {

using check::expect_equal;
using check::require;
using check::success;

constexpr int kGroup = 5;
constexpr int kMember = 0;
constexpr int kCount = 1000;

MPI_Comm comm = MPI_COMM_NULL;
int role = -1;
int error = -1;
int rank = -1;
std::vector<long> values(kCount);

long value(int time_stamp, int index) { return rank * 1'000'000L + time_stamp * 10'000L + index; }

int run_of_this() {
  int run = -1;
  success(Fenix_Process_get_run(&run, nullptr), "get_run");
  return run;
}

void begin(int run) {
  success(Fenix_Init_no_jump(&role, MPI_COMM_WORLD, &comm, nullptr, nullptr, 0, 0, MPI_INFO_NULL, &error), "init");
  success(Fenix_set_option(FENIX_UNHANDLED_MODE, FENIX_UNHANDLED_SILENT), "set_option");
  MPI_Comm_rank(comm, &rank);
  expect_equal(run_of_this(), run, "run");
}

void commit(int time_stamp) {
  for (int i = 0; i < kCount; ++i) values[static_cast<std::size_t>(i)] = value(time_stamp, i);
  success(Fenix_Data_member_store(kGroup, kMember, FENIX_DATA_SUBSET_FULL), "store");
  int got = -1;
  success(Fenix_Data_commit_barrier(kGroup, &got), "commit_barrier");
  expect_equal(got, time_stamp, "time stamp");
}

void expect_snapshot(int time_stamp) {
  values.assign(kCount, -1);
  success(Fenix_Data_member_restore(kGroup, kMember, values.data(), kCount, FENIX_DATA_SNAPSHOT_LATEST,
                                    FENIX_DATA_SUBSET_IGNORE),
          "restore");
  for (int i = 0; i < kCount; ++i) {
    expect_equal(values[static_cast<std::size_t>(i)], value(time_stamp, i),
                 "an element of " + std::to_string(time_stamp));
  }
}

int state_of(int time_stamp) {
  int state = -1;
  MPI_Count bytes = -1;
  success(Fenix_Data_flush_state(kGroup, time_stamp, &state, &bytes), "flush_state");
  require(bytes >= 0 && (bytes == 0 || state == FENIX_FLUSH_WRITING), "bytes of a flush that is not under way");
  return state;
}

void wait_until_complete(int time_stamp) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (state_of(time_stamp) != FENIX_FLUSH_COMPLETE) {
    require(std::chrono::steady_clock::now() < deadline, "a flush that does not become complete");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

struct Entry {
  std::string name;
  std::string label;
  int complete = -1;
};

std::vector<Entry> listed() {
  int number = -1;
  success(Fenix_Data_get_number_of_datasets(&number), "get_number_of_datasets");
  std::vector<Entry> entries;
  for (int position = 0; position < number; ++position) {
    char name[FENIX_DATASET_NAME_MAX];
    char label[FENIX_DATASET_NAME_MAX];
    std::memset(name, 'x', sizeof name);
    std::memset(label, 'x', sizeof label);
    Entry entry;
    success(Fenix_Data_get_dataset_at_position(position, name, label, &entry.complete), "get_dataset_at_position");
    require(name[sizeof name - 1] == 0 && label[sizeof label - 1] == 0, "a name without an end");
    entry.name = name;
    entry.label = label;
    entries.push_back(entry);
  }
  return entries;
}

/// Returns the datasets by time stamps, newest first. All are of this group and run.
std::string time_stamps() {
  std::string text;
  for (const Entry& each : listed()) {
    const std::string start = std::to_string(kGroup) + ".";
    require(each.name.rfind(start, 0) == 0, "name " + each.name);
    expect_equal(each.complete, 1, "whether " + each.name + " is complete");
    text += each.name.substr(start.size(), each.name.find('.', start.size()) - start.size()) + " ";
  }
  return text;
}

std::string name_of(int time_stamp) {
  const std::string start = std::to_string(kGroup) + "." + std::to_string(time_stamp) + ".";
  for (const Entry& each : listed()) {
    if (each.name.rfind(start, 0) == 0) return each.name;
  }
  check::fail("no dataset has the time stamp " + std::to_string(time_stamp));
}

bool needs_commit() {
  int flag = -1;
  success(Fenix_Data_need_commit(kGroup, &flag), "need_commit");
  require(flag == 0 || flag == 1, "flag of need_commit");
  return flag == 1;
}

bool should_halt() {
  int flag = -1;
  success(Fenix_Process_should_halt(&flag), "should_halt");
  require(flag == 0 || flag == 1, "flag of should_halt");
  return flag == 1;
}

// FENIX_COMMIT_EVERY is 2.
void first_commits() {
  require(!needs_commit() && needs_commit() && needs_commit(), "need_commit before a commit");
  commit(0);
  require(!needs_commit() && needs_commit(), "need_commit after a commit");
}

void flushes() {
  expect_equal(state_of(0), FENIX_FLUSH_NONE, "state before a flush");
  success(Fenix_Data_flush(kGroup, 0, "first"), "flush");
  expect_equal(state_of(0), FENIX_FLUSH_COMPLETE, "state after a flush");
  commit(1);
  Fenix_Request request = FENIX_REQUEST_NULL;
  success(Fenix_Data_iflush(kGroup, FENIX_DATA_SNAPSHOT_LATEST, nullptr, &request), "iflush");
  require(state_of(1) != FENIX_FLUSH_NONE, "state of a flush that has begun");
  success(Fenix_Data_wait(request), "wait");
  require(state_of(1) >= FENIX_FLUSH_WRITTEN, "state after the wait");
  wait_until_complete(1);
  success(Fenix_Data_group_set_flush(kGroup, 2), "group_set_flush");
  commit(2);
  expect_equal(state_of(2), FENIX_FLUSH_NONE, "state after the first commit of two");
  commit(3);
  wait_until_complete(3);
  success(Fenix_Data_group_set_flush(kGroup, 0), "group_set_flush");
  MPI_Barrier(comm);
}

// Errors of one rank reach all.
void wrong_arguments() {
  constexpr int kBad = FENIX_ERROR_INVALID_ARGUMENT;
  const bool is_wrong = rank == 1;
  Fenix_Request request = FENIX_REQUEST_NULL;
  expect_equal(Fenix_Data_flush(kGroup, 3, is_wrong ? "a/b" : "a"), kBad, "flush with a slash on one rank");
  expect_equal(Fenix_Data_flush(kGroup, 3, is_wrong ? "a" : "b"), FENIX_ERROR_MISMATCH, "flush with two names");
  expect_equal(Fenix_Data_flush(kGroup, is_wrong ? 2 : 3, nullptr), FENIX_ERROR_MISMATCH, "flush of two snapshots");
  expect_equal(Fenix_Data_flush(kGroup, -3, nullptr), FENIX_ERROR_INVALID_TIMESTAMP, "flush of a negative time stamp");
  expect_equal(Fenix_Data_iflush(kGroup, 3, nullptr, is_wrong ? nullptr : &request), kBad, "iflush without a request");
  expect_equal(Fenix_Data_iflush(kGroup, 3, is_wrong ? "" : "a", &request), kBad, "iflush with an empty name");
  expect_equal(Fenix_Data_fetch(kGroup, is_wrong ? " " : "a", nullptr), kBad, "fetch with a blank");
  expect_equal(Fenix_Data_fetch(kGroup, is_wrong ? "a" : "b", nullptr), FENIX_ERROR_MISMATCH, "fetch with two names");
  expect_equal(Fenix_Data_dataset_delete("5.0.1"), FENIX_ERROR_NODATA_FOUND, "dataset_delete of no dataset");
  expect_equal(Fenix_Data_dataset_set_current("5.99.1.0"), FENIX_ERROR_NODATA_FOUND, "set_current of no dataset");
  expect_snapshot(3);
}

void datasets() {
  require(time_stamps() == "3 1 0 ", "datasets " + time_stamps());
  const auto entries = listed();
  require(entries[2].label == "first" && entries[0].label.empty() && entries[1].label.empty(), "labels");
  char name[FENIX_DATASET_NAME_MAX];
  success(Fenix_Data_get_dataset_at_position(0, name, nullptr, nullptr), "get_dataset_at_position, name only");
  require(entries[0].name == name, "name of the first dataset");
  MPI_Barrier(comm);
  if (rank == 0) success(Fenix_Data_dataset_delete(name_of(1).c_str()), "dataset_delete");
  MPI_Barrier(comm);
  require(time_stamps() == "3 0 ", "datasets after a deletion: " + time_stamps());
  if (rank == 2) success(Fenix_Data_dataset_set_current(name_of(0).c_str()), "dataset_set_current");
}

void ending() {
  require(!should_halt(), "should_halt before halt");
  MPI_Barrier(comm);
  if (rank == 1) success(Fenix_Process_halt("enough is computed"), "halt");
  MPI_Barrier(comm);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!should_halt()) {
    require(std::chrono::steady_clock::now() < deadline, "should_halt never says 1");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  require(should_halt() && needs_commit(), "should_halt and need_commit at the end");
}

void first_use() {
  begin(1);
  expect_equal(static_cast<long>(listed().size()), 0, "datasets of an empty store");
  int flag = -1;
  success(Fenix_Data_group_create(kGroup, comm, 0, 1, FENIX_DATA_POLICY_IMR, nullptr, &flag), "group_create");
  expect_equal(flag, FENIX_SUCCESS, "flag of a new group");
  success(Fenix_Data_member_define(kGroup, kMember, values.data(), kCount, MPI_LONG), "member_define");
  first_commits();
  flushes();
  expect_equal(Fenix_Data_restart_done(kGroup, 1), FENIX_ERROR_INVALID_LOGIC_CALL, "restart_done of a new group");
  wrong_arguments();
  datasets();
  ending();
  success(Fenix_Finalize(), "Fenix_Finalize");
}

void go_on_from_the_current_one() {
  int flag = -1;
  success(Fenix_Data_group_create(kGroup, comm, 0, 1, FENIX_DATA_POLICY_IMR, nullptr, &flag), "group_create");
  expect_equal(flag, FENIX_WARNING_RESUMED, "flag of a group that goes on");
  success(Fenix_Data_member_define(kGroup, kMember, values.data(), kCount, MPI_LONG), "member_define");
  expect_snapshot(0);
  int run = -1;
  int origin = -1;
  success(Fenix_Process_get_run(&run, &origin), "get_run");
  expect_equal(run, 2, "run");
  expect_equal(origin, 1, "origin");
  success(Fenix_Data_restart_done(kGroup, 1), "restart_done");
}

void other_datasets() {
  if (rank == 0) success(Fenix_Data_dataset_set_current(nullptr), "dataset_set_current, none");
  MPI_Barrier(comm);
  int time_stamp = -1;
  success(Fenix_Data_fetch(kGroup, nullptr, &time_stamp), "fetch of the newest one");
  expect_equal(time_stamp, 3, "time stamp of the newest dataset");
  expect_snapshot(3);
  // One rank cannot use it.
  expect_equal(Fenix_Data_restart_done(kGroup, rank == 1 ? 0 : 7), FENIX_WARNING_RESUMED, "restart_done, not good");
  expect_snapshot(0);
  expect_equal(Fenix_Data_restart_done(kGroup, 0), FENIX_ERROR_NODATA_FOUND, "restart_done without an older one");
  success(Fenix_Data_fetch(kGroup, "first", nullptr), "fetch by name");
  expect_snapshot(0);
  success(Fenix_Data_fetch(kGroup, name_of(3).c_str(), &time_stamp), "fetch by the name of the folder");
  expect_equal(time_stamp, 3, "time stamp of that dataset");
  expect_snapshot(3);
  commit(4);
  expect_equal(Fenix_Data_restart_done(kGroup, 1), FENIX_ERROR_INVALID_LOGIC_CALL, "restart_done after a commit");
}

void second_use() {
  begin(2);
  require(!should_halt(), "should_halt after a job that was halted");
  go_on_from_the_current_one();
  other_datasets();
  success(Fenix_Finalize(), "Fenix_Finalize");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  check::make_store();
  first_use();
  second_use();
  check::remove_store();
  check::ok(rank);
  MPI_Finalize();
  return 0;
}
