// SPDX-License-Identifier: BSD-3-Clause
// Restoring and loading.
#include <algorithm>

#include "rows.hpp"

namespace bad_input {
namespace {

constexpr int kBad = FENIX_ERROR_INVALID_ARGUMENT;
constexpr int kLatest = FENIX_DATA_SNAPSHOT_LATEST;
constexpr double kUntouched = -1;

struct Restore {
  int group = kGroup;
  int member = kMember;
  enum class Target { buffer, in_place, null } target = Target::buffer;
  MPI_Count max_count = kCount;
  int time_stamp = kLatest;
  int source = 0;
};

using Call = std::function<int(const Restore&, void*)>;

struct Restorer {
  const char* name;
  Told told;
  Call call;
};

// An error leaves the target as it was; what an error was not is told as success.
Outcome refused(const Call& call, const Restore& with) {
  static double target[kCount];
  std::fill_n(target, kCount, kUntouched);
  void* to = target;
  if (with.target == Restore::Target::in_place) to = FENIX_DATA_RESTORE_INPLACE;
  if (with.target == Restore::Target::null) to = nullptr;
  Outcome outcome = call(with, to);
  const bool touched = std::any_of(target, target + kCount, [](double value) { return value != kUntouched; });
  if (touched && outcome.code != FENIX_SUCCESS) outcome = {FENIX_SUCCESS};
  return outcome;
}

Fenix_Data_subset* const kIgnore = FENIX_DATA_SUBSET_IGNORE;

std::vector<Restorer> collective_functions() {
  return {
      {"Fenix_Data_member_restore", Told::all,
       [](const Restore& with, void* to) {
         return Fenix_Data_member_restore(with.group, with.member, to, static_cast<int>(with.max_count),
                                          with.time_stamp, kIgnore);
       }},
      {"Fenix_Data_member_restore_c", Told::all,
       [](const Restore& with, void* to) {
         return Fenix_Data_member_restore_c(with.group, with.member, to, with.max_count, with.time_stamp, kIgnore);
       }},
      {"Fenix_Data_member_restore_from_rank", Told::all,
       [](const Restore& with, void* to) {
         return Fenix_Data_member_restore_from_rank(with.group, with.member, to, static_cast<int>(with.max_count),
                                                    with.time_stamp, kIgnore, with.source);
       }},
      {"Fenix_Data_member_restore_from_rank_c", Told::all,
       [](const Restore& with, void* to) {
         return Fenix_Data_member_restore_from_rank_c(with.group, with.member, to, with.max_count, with.time_stamp,
                                                      kIgnore, with.source);
       }},
  };
}

std::vector<Restorer> local_functions() {
  return {
      {"Fenix_Data_member_lrestore", Told::here,
       [](const Restore& with, void* to) {
         return Fenix_Data_member_lrestore(with.group, with.member, to, static_cast<int>(with.max_count),
                                           with.time_stamp, kIgnore);
       }},
      {"Fenix_Data_member_lrestore_c", Told::here,
       [](const Restore& with, void* to) {
         return Fenix_Data_member_lrestore_c(with.group, with.member, to, with.max_count, with.time_stamp, kIgnore);
       }},
      {"Fenix_Data_member_load_to", Told::here,
       [](const Restore& with, void* to) {
         return Fenix_Data_member_load_to(with.group, with.member, to, static_cast<int>(with.max_count),
                                          with.time_stamp, kIgnore);
       }},
      {"Fenix_Data_member_load_to_c", Told::here,
       [](const Restore& with, void* to) {
         return Fenix_Data_member_load_to_c(with.group, with.member, to, with.max_count, with.time_stamp, kIgnore);
       }},
  };
}

Told on_all_alike(Told told) { return told == Told::all ? Told::same : told; }

void add_snapshot_rows(Rows& rows, const Restorer& function) {
  const auto add = [&](const char* argument, int code, const char* named, const Restore& wrong) {
    rows.push_back({function.name, argument, code, named, on_all_alike(function.told),
                    [=, call = function.call](bool) { return refused(call, wrong); }});
  };
  add("time_stamp before all snapshots", FENIX_ERROR_NODATA_FOUND, "time_stamp 0", {.time_stamp = 0});
  add("time_stamp that is negative and no constant", FENIX_ERROR_INVALID_TIMESTAMP, "time_stamp -7",
      {.time_stamp = -7});
  add("group without snapshots", FENIX_ERROR_NODATA_FOUND, "snapshot", {.group = kOtherGroup});
  rows.push_back({function.name, "member that is in no snapshot", FENIX_ERROR_NODATA_FOUND, "member_id 7",
                  on_all_alike(function.told), [call = function.call](bool) {
                    return with_new_member(buffer, [&] { return refused(call, {.member = kNew}); });
                  }});
}

void add_target_rows(Rows& rows, const Restorer& function) {
  const auto add = [&](const char* argument, int code, const char* named, const Restore& wrong) {
    rows.push_back({function.name, argument, code, named, function.told,
                    [=, call = function.call](bool is_wrong) { return refused(call, is_wrong ? wrong : Restore{}); }});
  };
  add("max_count negative and no constant", kBad, "max_count -2", {.max_count = -2});
  add("target_buffer NULL for a member with a source buffer", kBad, "target_buffer", {.target = Restore::Target::null});
  rows.push_back({function.name, "FENIX_DATA_RESTORE_INPLACE for a member without a source buffer", kBad,
                  "target_buffer", on_all_alike(function.told), [call = function.call](bool) {
                    return with_new_member(
                        nullptr, [&] { return refused(call, {.member = kNew, .target = Restore::Target::in_place}); });
                  }});
}

void add_difference_rows(Rows& rows, const Restorer& function) {
  const auto add = [&](const char* argument, const std::function<Restore()>& with) {
    rows.push_back({function.name, argument, FENIX_ERROR_MISMATCH, "different arguments", Told::differs,
                    [=, call = function.call](bool) { return refused(call, with()); }});
  };
  add("member_id that differs between ranks",
      [] { return Restore{.member = first_of_two_kinds() ? kGrowing : kMember}; });
  add("time_stamp that differs between ranks",
      [] { return Restore{.time_stamp = first_of_two_kinds() ? FENIX_DATA_SNAPSHOT_ALL : kLatest}; });
}

void add_source_rows(Rows& rows, const Restorer& function) {
  for (const int source : {-1, 3}) {
    rows.push_back({function.name, source < 0 ? "source_rank negative" : "source_rank beyond the group", kBad,
                    "source_rank " + std::to_string(source), Told::all, [=, call = function.call](bool wrong) {
                      return refused(call, wrong ? Restore{.source = source} : Restore{});
                    }});
  }
}

}  // namespace

void add_restoring_rows(Rows& rows) {
  for (const Restorer& function : collective_functions()) {
    add_snapshot_rows(rows, function);
    add_target_rows(rows, function);
    add_difference_rows(rows, function);
    if (std::string(function.name).find("from_rank") != std::string::npos) add_source_rows(rows, function);
  }
  for (const Restorer& function : local_functions()) {
    add_snapshot_rows(rows, function);
    add_target_rows(rows, function);
  }
  const Restorer load{"Fenix_Data_member_load", Told::here, [](const Restore& with, void*) {
                        return Fenix_Data_member_load(with.group, with.member, with.time_stamp, kIgnore);
                      }};
  add_snapshot_rows(rows, load);
  rows.push_back({load.name, "member without a source buffer", kBad, "member_id 7", Told::here, [load](bool) {
                    return with_new_member(nullptr, [&] { return refused(load.call, {.member = kNew}); });
                  }});
  rows.push_back({"Fenix_Data_member_repair", "member_id that differs between ranks", FENIX_ERROR_MISMATCH,
                  "different arguments", Told::differs,
                  [](bool) { return Fenix_Data_member_repair(kGroup, first_of_two_kinds() ? kGrowing : kMember); }});
}

}  // namespace bad_input
