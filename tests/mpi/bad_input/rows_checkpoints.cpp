// SPDX-License-Identifier: BSD-3-Clause
// Checkpoints that do not block. Most rows need libfenix_mpi: they have a program of their own, which is linked with it.
#include <cstdlib>

#include "../check.hpp"
#include "rows.hpp"

namespace bad_input {
namespace {

constexpr int kBad = FENIX_ERROR_INVALID_ARGUMENT;
constexpr int kLog = 8;  // id of the member for the log
constexpr int kLogBytes = 4096;
constexpr int kOneUseGroup = 5;

int number = 0;

// An error changes nothing: there is no member for the log.
Outcome begin(int group, int member, int log_bytes, int* time_stamp) {
  Outcome outcome = Fenix_Checkpoint_begin(group, member, log_bytes, time_stamp);
  check::require(Fenix_Data_member_created(group, kLog) != 1, "the error has left the member for the log");
  return outcome;
}

Outcome begin_with(int group) { return begin(group, kLog, kLogBytes, &number); }

/// Begins in a group of this depth and policy, which is there for this call only.
Outcome begin_in_new_group(MPI_Comm group_comm, int depth, int policy, int* values, bool in_place = false) {
  int code = Fenix_Data_group_create(kOneUseGroup, group_comm, 0, depth, policy, values, nullptr);
  if (code == FENIX_SUCCESS && in_place) code = Fenix_Data_group_set_in_place(kOneUseGroup, 1);
  if (code != FENIX_SUCCESS) return {FENIX_SUCCESS};
  Outcome outcome = begin_with(kOneUseGroup);
  // The id may be used again when all have deleted the group.
  MPI_Barrier(comm);
  if (Fenix_Data_group_delete(kOneUseGroup) != FENIX_SUCCESS) outcome = {FENIX_SUCCESS};
  MPI_Barrier(comm);
  return outcome;
}

Outcome begin_with_parity() {
  int values[] = {5, 1, 3};
  return begin_in_new_group(comm, 1, FENIX_DATA_POLICY_IN_MEMORY_RAID, values);
}

Outcome begin_in_part_of_ranks() {
  MPI_Comm own = MPI_COMM_NULL;
  MPI_Comm_split(comm, first_of_two_kinds() ? 1 : 0, 0, &own);
  Outcome outcome = begin_in_new_group(own, 1, FENIX_DATA_POLICY_LOCAL, nullptr);
  MPI_Comm_free(&own);
  return outcome;
}

Outcome begin_with_interval(bool has_interval, const char* interval) {
  if (has_interval) setenv("FENIX_CHECKPOINT_INTERVAL", interval, 1);
  Outcome outcome = begin_with(kOtherGroup);
  unsetenv("FENIX_CHECKPOINT_INTERVAL");
  return outcome;
}

Outcome begin_beside_log(bool is_active) {
  (void)Fenix_Mlog_create(0, &comm, 1);
  if (is_active) (void)Fenix_Mlog_activate(0);
  Outcome outcome = begin_with(kOtherGroup);
  (void)Fenix_Mlog_activate(FENIX_MLOG_NONE);
  (void)Fenix_Mlog_delete(0);
  return outcome;
}

// Rank 0 may ask: it does not, and has what the others are told.
Outcome request_of_others() {
  static int time_stamp = 0;
  if (Fenix_Checkpoint_begin(kOtherGroup, kLog, kLogBytes, &time_stamp) != FENIX_SUCCESS) return {FENIX_SUCCESS};
  Outcome outcome = rank == 0 ? FENIX_ERROR_INVALID_LOGIC_CALL : Fenix_Checkpoint_request();
  if (rank == 0) outcome.text = "rank 0";
  const int code = Fenix_Checkpoint_finish();
  if (code != FENIX_SUCCESS) outcome = {code};
  (void)Fenix_Data_member_delete(kOtherGroup, kLog);
  return outcome;
}

using Call = std::pair<const char*, std::function<Outcome()>>;

std::vector<Call> calls_after_begin() {
  return {{"Fenix_Checkpoint_request", [] { return Fenix_Checkpoint_request(); }},
          {"Fenix_Checkpoint_potential", [] { return Fenix_Checkpoint_potential(&number); }},
          {"Fenix_Checkpoint_count", [] { return Fenix_Checkpoint_count(&number); }},
          {"Fenix_Checkpoint_finish", [] { return Fenix_Checkpoint_finish(); }}};
}

}  // namespace

void add_rows_without_library(Rows& rows) {
  std::vector<Call> calls = calls_after_begin();
  calls.emplace_back("Fenix_Checkpoint_begin", [] { return begin_with(kOtherGroup); });
  for (const auto& [function, call] : calls) {
    rows.push_back({function, "any arguments: the program runs without libfenix_mpi",
                    FENIX_ERROR_MLOG_LIBRARY_UNAVAILABLE, "libfenix_mpi", Told::here,
                    [call = call](bool) { return call(); }});
  }
}

Rows rows_with_library() {
  Rows rows;
  const auto add = [&](const char* function, const char* argument, int code, const char* named, Told told,
                       const std::function<Outcome()>& call) {
    rows.push_back({function, argument, code, named, told, [call](bool) { return call(); }});
  };
  const auto add_for_all = [&](const std::string& argument, int code, const std::string& named,
                               const std::function<Outcome(bool wrong)>& call) {
    rows.push_back({"Fenix_Checkpoint_begin", argument, code, named, Told::all, call});
  };
  const char* const begins = "Fenix_Checkpoint_begin";
  add(begins, "group_id of no group", FENIX_ERROR_INVALID_GROUPID, "group_id 99", Told::same,
      [] { return begin_with(kUnknown); });
  add(begins, "group with parity", kBad, "group_id", Told::same, begin_with_parity);
  add(begins, "group that keeps all snapshots", kBad, "group_id", Told::same,
      [] { return begin_in_new_group(comm, -1, FENIX_DATA_POLICY_IMR, good_policy()); });
  add(begins, "group that commits in place", kBad, "group_id", Told::same,
      [] { return begin_in_new_group(comm, 0, FENIX_DATA_POLICY_IMR, good_policy(), true); });
  add(begins, "group of some ranks", kBad, "group_id", Told::same, begin_in_part_of_ranks);
  add(begins, "group with a member that is FENIX_RESIZEABLE", kBad, "member_id 6", Told::same,
      [] { return begin_with(kGroup); });
  add_for_all("member_id negative", FENIX_ERROR_INVALID_MEMBERID, "member_id -1",
              [](bool wrong) { return begin(kOtherGroup, wrong ? -1 : kLog, kLogBytes, &number); });
  add_for_all("member_id of a member that has been stored with another datatype", FENIX_ERROR_INVALID_LOGIC_CALL,
              "member_id 5", [](bool wrong) { return begin(kGroup, wrong ? kMember : kLog, kLogBytes, &number); });
  rows.push_back({begins, "member_id that differs between ranks", FENIX_ERROR_MISMATCH, "different arguments",
                  Told::differs,
                  [](bool) { return begin(kOtherGroup, first_of_two_kinds() ? kLog + 1 : kLog, kLogBytes, &number); }});
  for (const int log_bytes : {kLogBytes - 1, 0, -1}) {
    const std::string argument = "log_bytes " + std::to_string(log_bytes);
    add_for_all(argument, kBad, argument,
                [=](bool wrong) { return begin(kOtherGroup, kLog, wrong ? log_bytes : kLogBytes, &number); });
  }
  add_for_all("time_stamp NULL, group that has snapshots", kBad, "time_stamp",
              [](bool wrong) { return begin(kGroup, kLog, kLogBytes, wrong ? nullptr : &number); });
  add_for_all("FENIX_CHECKPOINT_INTERVAL that is no number", kBad, "FENIX_CHECKPOINT_INTERVAL",
              [](bool wrong) { return begin_with_interval(wrong, "soon"); });
  for (const char* const interval : {"0", "inf"}) {
    add_for_all(std::string("FENIX_CHECKPOINT_INTERVAL ") + interval, kBad, "FENIX_CHECKPOINT_INTERVAL",
                [=](bool wrong) { return begin_with_interval(wrong, interval); });
  }
  rows.push_back({begins, "FENIX_CHECKPOINT_INTERVAL that differs between ranks", FENIX_ERROR_MISMATCH,
                  "different arguments", Told::differs,
                  [](bool) { return begin_with_interval(true, first_of_two_kinds() ? "2" : "1"); }});
  add_for_all("message log that is active", FENIX_ERROR_INVALID_LOGIC_CALL, "message log", begin_beside_log);

  for (const auto& [function, call] : calls_after_begin()) {
    add(function, "call before Fenix_Checkpoint_begin", FENIX_ERROR_INVALID_LOGIC_CALL, "Fenix_Checkpoint_begin",
        Told::here, call);
  }
  add("Fenix_Checkpoint_request", "call on a rank other than 0", FENIX_ERROR_INVALID_LOGIC_CALL, "rank 0", Told::here,
      request_of_others);
  add("Fenix_Checkpoint_count", "count NULL", kBad, "count", Told::here,
      [] { return Fenix_Checkpoint_count(nullptr); });
  return rows;
}

}  // namespace bad_input
