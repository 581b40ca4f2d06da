// SPDX-License-Identifier: BSD-3-Clause
// What holds for all functions: groups and members that do not exist, files that are open, calls outside of the use of
// Fenix, and waits that only FENIX_TIMEOUT ends.
#include <algorithm>

#include "rows.hpp"

namespace bad_input {
namespace {

using Needs = Function::Needs;

// These meet, whatever they are given: an error on one rank reaches all.
bool always_meets(const std::string& name) {
  const auto begins_with = [&](const char* start) { return name.rfind(start, 0) == 0; };
  return begins_with("Fenix_Data_member_attr_get") || begins_with("Fenix_Data_member_restore") ||
         name == "Fenix_Data_member_repair";
}

bool creates(const std::string& name) {
  return name.find("create") != std::string::npos || name.find("define") != std::string::npos ||
         name.find("allocate") != std::string::npos;
}

FILE* file = nullptr;

Outcome while_staging(bool open, const std::function<Outcome()>& body) {
  if (open) (void)Fenix_Data_member_stage_begin(kGroup, kMember, &file);
  Outcome outcome = body();
  if (open) (void)Fenix_Data_member_stage_end(kGroup, kMember);  // nothing was written
  return outcome;
}

Outcome while_loading(bool open, const std::function<Outcome()>& body) {
  if (open) {
    (void)Fenix_Data_member_load_begin(kGroup, kMember, &file, FENIX_DATA_SNAPSHOT_LATEST, FENIX_DATA_SUBSET_IGNORE);
  }
  Outcome outcome = body();
  if (open) (void)Fenix_Data_member_load_end(kGroup, kMember);
  return outcome;
}

void add_member_rows_of(const Function& function, Rows& rows) {
  const Told told = always_meets(function.name) ? Told::all : Told::here;
  rows.push_back({function.name, "member_id of no member", FENIX_ERROR_INVALID_MEMBERID, "member_id 99", told,
                  [call = function.call](bool wrong) { return call(kGroup, wrong ? kUnknown : kMember); }});
  if (function.needs != Needs::closed) return;
  rows.push_back(
      {function.name, "member with a file open for staging", FENIX_ERROR_MEMBER_STAGING, "member_id 5", told,
       [call = function.call](bool wrong) { return while_staging(wrong, [&] { return call(kGroup, kMember); }); }});
  rows.push_back(
      {function.name, "member with a file open for loading", FENIX_ERROR_MEMBER_LOADING, "member_id 5", told,
       [call = function.call](bool wrong) { return while_loading(wrong, [&] { return call(kGroup, kMember); }); }});
}

bool commits(const std::string& name) {
  const bool is_question = name == "Fenix_Data_need_commit";
  return (name.find("_commit") != std::string::npos && !is_question) || name.find("_checkpoint") != std::string::npos;
}

// One rank gives a group that it does not have: the others wait for it in vain.
Row lonely(const std::string& name, const std::function<Outcome(int, int)>& call, int member) {
  return {
      name, "group_id of no group, on one rank only", FENIX_ERROR_TIMEOUT, "FENIX_TIMEOUT", Told::differs, [=](bool) {
        if (!first_of_two_kinds()) return call(kGroup, member);
        Outcome refused = call(kUnknown, member);
        // The others get FENIX_ERROR_TIMEOUT; this rank is told at once.
        if (refused.code == FENIX_ERROR_INVALID_GROUPID && refused.text.find("group_id 99") != std::string::npos) {
          refused.code = FENIX_ERROR_TIMEOUT;
          refused.text = "FENIX_TIMEOUT";
        }
        return refused;
      }};
}

}  // namespace

void add_common_rows(Rows& rows) {
  for (const Function& function : functions()) {
    if (function.needs < Needs::group) continue;
    rows.push_back({function.name, "group_id of no group", FENIX_ERROR_INVALID_GROUPID, "group_id 99", Told::here,
                    [call = function.call](bool) { return call(kUnknown, kMember); }});
    if (function.needs >= Needs::member) add_member_rows_of(function, rows);
    if (commits(function.name)) {
      rows.push_back({function.name, "group with a member that has a file open for staging", FENIX_ERROR_MEMBER_STAGING,
                      "member_id 5", Told::here, [call = function.call](bool) {
                        return while_staging(true, [&] { return call(kGroup, kMember); });
                      }});
    }
  }
  const auto verify = [] { return Fenix_Data_verify(kGroup, nullptr, nullptr); };
  rows.push_back({"Fenix_Data_verify", "group with a file open for staging", FENIX_ERROR_MEMBER_STAGING, "member_id 5",
                  Told::all, [=](bool wrong) { return while_staging(wrong, verify); }});
  rows.push_back({"Fenix_Data_verify", "group with a file open for loading", FENIX_ERROR_MEMBER_LOADING, "member_id 5",
                  Told::all, [=](bool wrong) { return while_loading(wrong, verify); }});
}

Rows outside_rows(const std::string& when) {
  Rows rows;
  for (const Function& function : functions()) {
    if (function.needs == Needs::nothing) continue;
    rows.push_back({function.name, "call " + when, FENIX_ERROR_UNINITIALIZED, when, Told::here,
                    [call = function.call](bool) { return call(kGroup, kMember); }});
  }
  return rows;
}

Rows detached_rows() {
  Rows rows;
  for (const Function& function : functions()) {
    if (!function.attached) continue;
    const int member = creates(function.name) ? kNew : kMember;
    rows.push_back({function.name, "group that has not been created again after a time-out or repair",
                    FENIX_ERROR_INVALID_LOGIC_CALL, "group_id 3 has to be created again", Told::here,
                    [=, call = function.call](bool) { return call(kGroup, member); }});
  }
  return rows;
}

Rows timeout_rows() {
  // One for each kind of wait: all other functions wait as one of these does.
  const std::vector<std::string> waiting{"Fenix_Data_member_create",           "Fenix_Data_member_define",
                                         "Fenix_Data_member_attr_get",         "Fenix_Data_member_restore",
                                         "Fenix_Data_commit_barrier",          "Fenix_Data_barrier",
                                         "Fenix_Data_member_restore_from_rank"};
  Rows rows;
  for (const Function& function : functions()) {
    if (std::find(waiting.begin(), waiting.end(), function.name) == waiting.end()) continue;
    rows.push_back(lonely(function.name, function.call, creates(function.name) ? kNew : kMember));
  }
  rows.push_back(lonely(
      "Fenix_Data_member_store",
      [](int group, int) { return Fenix_Data_member_store(group, kGrowing, FENIX_DATA_SUBSET_EMPTY); }, kGrowing));
  rows.push_back({"Fenix_Data_member_restore", "group_id of different groups", FENIX_ERROR_TIMEOUT, "FENIX_TIMEOUT",
                  Told::differs, [](bool) {
                    static double target[kCount];
                    const int group = first_of_two_kinds() ? kOtherGroup : kGroup;
                    return Fenix_Data_member_restore(group, kMember, target, kCount, FENIX_DATA_SNAPSHOT_LATEST,
                                                     FENIX_DATA_SUBSET_IGNORE);
                  }});
  return rows;
}

}  // namespace bad_input
