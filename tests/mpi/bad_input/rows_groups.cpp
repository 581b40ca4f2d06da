// SPDX-License-Identifier: BSD-3-Clause
// Groups: creation, deletion, policies, queries.
#include <cstdlib>

#include "rows.hpp"

namespace bad_input {
namespace {

constexpr int kBad = FENIX_ERROR_INVALID_ARGUMENT;
constexpr int kBadValue = FENIX_ERROR_INVALID_POLICY_VALUE;
constexpr int kBuddies = FENIX_DATA_POLICY_IN_MEMORY_RAID;
constexpr int kRing = FENIX_DATA_POLICY_PEER_RANK_SEPARATION;
constexpr int kCodes = FENIX_DATA_POLICY_REED_SOLOMON;
constexpr int kFresh = 9;  // id of a group that is never made

int number = 0;

struct Creation {
  int id = kFresh;
  MPI_Comm* comm = &bad_input::comm;
  int start = 0;
  int depth = 0;
  int policy = kBuddies;
  int* values = good_policy();
};

Outcome create(const Creation& with) {
  Outcome outcome =
      Fenix_Data_group_create(with.id, *with.comm, with.start, with.depth, with.policy, with.values, nullptr);
  if (Fenix_Data_group_created(kFresh) != 0) outcome = {FENIX_SUCCESS};  // an error makes no group
  return outcome;
}

// Values of policies that do not fit, but as many ranks as there are.
int bad_mode[] = {7, 1};
int no_separation[] = {1, 0};
int negative_separation[] = {1, -1};
int far_separation[] = {1, 3};
int no_ring[] = {0};
int far_ring[] = {3};
int parity_without_separation[] = {5, 0, 3};
int parity_of_one[] = {5, 1, 1};
int parity_of_too_many[] = {5, 1, 129};
int codes_without_separation[] = {0, 3, 1};
int codes_far_apart[] = {3, 3, 1};
int codes_without_losses[] = {1, 3, 0};
int codes_with_five_losses[] = {1, 3, 5};
int codes_that_lose_all[] = {1, 2, 2};
int codes_of_all_and_one[] = {1, 4, 1};

struct PolicyCase {
  const char* argument;
  int policy;
  int* values;
  int code;
  const char* named;
};

std::vector<PolicyCase> policy_cases() {
  return {
      {"policy_name that does not exist", 12345, good_policy(), FENIX_ERROR_INVALID_POLICY_NAME, "policy_name 12345"},
      {"policy_value: mode that does not exist", kBuddies, bad_mode, kBadValue, "mode 7"},
      {"policy_value: separation 0", kBuddies, no_separation, kBadValue, "separation 0"},
      {"policy_value: separation negative", kBuddies, negative_separation, kBadValue, "separation -1"},
      {"policy_value: separation as large as comm", kBuddies, far_separation, kBadValue, "separation 3"},
      {"policy_value: ring, separation 0", kRing, no_ring, kBadValue, "separation 0"},
      {"policy_value: ring, separation as large as comm", kRing, far_ring, kBadValue, "separation 3"},
      {"policy_value: parity, separation 0", kBuddies, parity_without_separation, kBadValue, "separation 0"},
      {"policy_value: parity, cohort size 1", kBuddies, parity_of_one, kBadValue, "cohort size 1"},
      {"policy_value: parity, cohort size larger than 128", kBuddies, parity_of_too_many, kBadValue, "cohort size 129"},
      {"policy_value: Reed-Solomon, separation 0", kCodes, codes_without_separation, kBadValue, "separation 0"},
      {"policy_value: Reed-Solomon, separation as large as comm", kCodes, codes_far_apart, kBadValue, "separation 3"},
      {"policy_value: Reed-Solomon, 0 losses", kCodes, codes_without_losses, kBadValue, "losses 0"},
      {"policy_value: Reed-Solomon, 5 losses", kCodes, codes_with_five_losses, kBadValue, "losses 5"},
      {"policy_value: Reed-Solomon, as many losses as ranks in a cohort", kCodes, codes_that_lose_all, kBadValue,
       "cohort size 2"},
      {"policy_value: Reed-Solomon, cohort size larger than comm", kCodes, codes_of_all_and_one, kBadValue,
       "cohort size 4"},
  };
}

void add_creation_rows(Rows& rows) {
  const auto add = [&](const char* argument, int code, const char* named, Told told, const Creation& wrong) {
    rows.push_back({"Fenix_Data_group_create", argument, code, named, told,
                    [=](bool is_wrong) { return create(is_wrong ? wrong : Creation{}); }});
  };
  static MPI_Comm null = MPI_COMM_NULL;
  static MPI_Comm world = MPI_COMM_WORLD;
  add("comm MPI_COMM_NULL", kBad, "comm", Told::here, {.comm = &null});
  add("comm with spare ranks in it", kBad, "comm", Told::here, {.comm = &world});
  add("start_time_stamp negative", FENIX_ERROR_INVALID_TIMESTART, "start_time_stamp -1", Told::all, {.start = -1});
  add("start_time_stamp FENIX_TIME_STAMP_MAX", FENIX_ERROR_INVALID_TIMESTART, "start_time_stamp", Told::all,
      {.start = FENIX_TIME_STAMP_MAX});
  add("depth below −1", FENIX_ERROR_INVALID_DEPTH, "depth -2", Told::all, {.depth = -2});
  add("depth 4096", FENIX_ERROR_INVALID_DEPTH, "depth 4096", Told::all, {.depth = 4096});
  for (const PolicyCase& each : policy_cases()) {
    add(each.argument, each.code, each.named, Told::all, {.policy = each.policy, .values = each.values});
  }
  rows.push_back({"Fenix_Data_group_create", "FENIX_PATH in the environment unknown", FENIX_ERROR_GROUP_CREATE,
                  "FENIX_PATH", Told::all, [](bool wrong) {
                    const char* before = std::getenv("FENIX_PATH");
                    const std::string kept = before != nullptr ? before : "auto";
                    if (wrong) setenv("FENIX_PATH", "pigeon", 1);
                    Outcome outcome = create({});
                    setenv("FENIX_PATH", kept.c_str(), 1);
                    return outcome;
                  }});
  const auto differs = [&](const char* argument, const std::function<Creation()>& creation) {
    rows.push_back({"Fenix_Data_group_create", argument, FENIX_ERROR_MISMATCH, "different arguments", Told::differs,
                    [=](bool) { return create(creation()); }});
  };
  static int ring_values[] = {1};
  differs("group_id that differs between ranks", [] { return Creation{.id = first_of_two_kinds() ? 10 : kFresh}; });
  differs("start_time_stamp that differs", [] { return Creation{.start = rank}; });
  differs("depth that differs", [] { return Creation{.depth = rank}; });
  differs("policy_name that differs",
          [] { return first_of_two_kinds() ? Creation{.policy = kRing, .values = ring_values} : Creation{}; });
  differs("policy_value that differs", [] {
    static int two[] = {1, 2};
    return first_of_two_kinds() ? Creation{.values = two} : Creation{};
  });
}

void add_policy_rows(Rows& rows) {
  const char* const set = "Fenix_Data_group_set_redundancy_policy";
  // Changes the policy of the other group, where nothing is stored. After the error it has to be as before.
  const auto change = [](int policy, int* values) {
    int flag = 7;
    Outcome outcome = Fenix_Data_group_set_redundancy_policy(kOtherGroup, policy, values, &flag);
    int got[3] = {0, 0, 0};
    const int code = Fenix_Data_group_get_redundancy_policy(kOtherGroup, &number, got, nullptr);
    const bool kept = code == FENIX_SUCCESS && number == kBuddies && got[0] == 1 && got[1] == 1;
    if (flag != 0 || !kept) outcome = {FENIX_SUCCESS};
    return outcome;
  };
  for (const PolicyCase& each : policy_cases()) {
    rows.push_back({set, each.argument, each.code, each.named, Told::all, [=](bool wrong) {
                      return wrong ? change(each.policy, each.values) : change(kBuddies, good_policy());
                    }});
  }
  rows.push_back({set, "arguments that differ between ranks", FENIX_ERROR_MISMATCH, "different arguments",
                  Told::differs, [=](bool) {
                    static int two[] = {1, 2};
                    return change(kBuddies, first_of_two_kinds() ? two : good_policy());
                  }});
  rows.push_back({set, "another policy, group in which something has been stored", FENIX_ERROR_INVALID_LOGIC_CALL,
                  "stored", Told::here, [](bool) {
                    static int ring_values[] = {1};
                    return Fenix_Data_group_set_redundancy_policy(kGroup, kRing, ring_values, nullptr);
                  }});

  const char* const get = "Fenix_Data_group_get_redundancy_policy";
  rows.push_back({get, "policy_name NULL", kBad, "policy_name", Told::here, [](bool) {
                    int values[3] = {0, 0, 0};
                    return Fenix_Data_group_get_redundancy_policy(kGroup, nullptr, values, nullptr);
                  }});
  rows.push_back({get, "policy_value NULL", kBad, "policy_value", Told::here,
                  [](bool) { return Fenix_Data_group_get_redundancy_policy(kGroup, &number, nullptr, nullptr); }});
}

constexpr int kGroupOfDepth0 = 5;

/// Makes a group of depth 0, calls body, deletes the group again. The error must not have set commits in place.
Outcome with_group_of_depth_0(const std::function<Outcome()>& body) {
  int code = Fenix_Data_group_create(kGroupOfDepth0, comm, 0, 0, FENIX_DATA_POLICY_IMR, good_policy(), nullptr);
  if (code != FENIX_SUCCESS) return {FENIX_SUCCESS};
  Outcome outcome = body();
  int value = 1;
  code = Fenix_Data_group_get_in_place(kGroupOfDepth0, &value);
  if (code != FENIX_SUCCESS || value != 0) outcome = {FENIX_SUCCESS};
  // The id may be used again when all have deleted the group.
  MPI_Barrier(comm);
  if (Fenix_Data_group_delete(kGroupOfDepth0) != FENIX_SUCCESS) outcome = {FENIX_SUCCESS};
  MPI_Barrier(comm);
  return outcome;
}

void add_hashing_rows(Rows& rows) {
  const char* const set = "Fenix_Data_group_set_hashing";
  rows.push_back(
      {set, "hashing that differs between ranks", FENIX_ERROR_MISMATCH, "different arguments", Told::differs, [](bool) {
         Outcome outcome = Fenix_Data_group_set_hashing(kOtherGroup, first_of_two_kinds() ? 0 : 1);
         int hashing = 0;
         const int code = Fenix_Data_group_get_hashing(kOtherGroup, &hashing);
         if (code != FENIX_SUCCESS || hashing != 1) outcome = {FENIX_SUCCESS};
         return outcome;
       }});
  rows.push_back({set, "another value, group in which something has been stored", FENIX_ERROR_INVALID_LOGIC_CALL,
                  "stored", Told::here, [](bool) { return Fenix_Data_group_set_hashing(kGroup, 0); }});
  const char* const in_place = "Fenix_Data_group_set_in_place";
  rows.push_back({in_place, "in_place that differs between ranks", FENIX_ERROR_MISMATCH, "different arguments",
                  Told::differs, [](bool) {
                    return with_group_of_depth_0([] {
                      return Outcome{Fenix_Data_group_set_in_place(kGroupOfDepth0, first_of_two_kinds() ? 0 : 1)};
                    });
                  }});
  rows.push_back({in_place, "group of depth 1", FENIX_ERROR_INVALID_DEPTH, "depth 1", Told::here,
                  [](bool) { return Fenix_Data_group_set_in_place(kOtherGroup, 1); }});
  rows.push_back({in_place, "another value, group in which something has been stored", FENIX_ERROR_INVALID_LOGIC_CALL,
                  "stored", Told::here, [](bool) {
                    return with_group_of_depth_0([] {
                      const int code = Fenix_Data_member_create(kGroupOfDepth0, kMember, buffer, kCount, MPI_DOUBLE);
                      if (code != FENIX_SUCCESS) return Outcome{code};
                      (void)Fenix_Data_member_store(kGroupOfDepth0, kMember, FENIX_DATA_SUBSET_FULL);
                      return Outcome{Fenix_Data_group_set_in_place(kGroupOfDepth0, 1)};
                    });
                  }});
  rows.push_back({"Fenix_Data_group_get_in_place", "in_place NULL", kBad, "in_place", Told::here,
                  [](bool) { return Fenix_Data_group_get_in_place(kGroup, nullptr); }});
  rows.push_back({"Fenix_Data_group_get_cohort", "cohort NULL", kBad, "cohort", Told::here,
                  [](bool) { return Fenix_Data_group_get_cohort(kGroup, nullptr); }});
  rows.push_back({"Fenix_Data_group_get_hashing", "hashing NULL", kBad, "hashing", Told::here,
                  [](bool) { return Fenix_Data_group_get_hashing(kGroup, nullptr); }});
}

void add_query_rows(Rows& rows) {
  constexpr int kPosition = FENIX_ERROR_INVALID_POSITION;
  const auto add = [&](const char* function, const char* argument, int code, const char* named,
                       const std::function<Outcome()>& call) {
    rows.push_back({function, argument, code, named, Told::here, [=](bool) { return call(); }});
  };
  const char* const members = "Fenix_Data_group_get_number_of_members";
  add(members, "number_of_members NULL", kBad, "number_of_members",
      [] { return Fenix_Data_group_get_number_of_members(kGroup, nullptr); });
  const char* const member = "Fenix_Data_group_get_member_at_position";
  add(member, "member_id NULL", kBad, "member_id",
      [] { return Fenix_Data_group_get_member_at_position(kGroup, nullptr, 0); });
  add(member, "position negative", kPosition, "position -1",
      [] { return Fenix_Data_group_get_member_at_position(kGroup, &number, -1); });
  add(member, "position = number of members", kPosition, "position 2",
      [] { return Fenix_Data_group_get_member_at_position(kGroup, &number, 2); });
  const char* const snapshots = "Fenix_Data_group_get_number_of_snapshots";
  add(snapshots, "number_of_snapshots NULL", kBad, "number_of_snapshots",
      [] { return Fenix_Data_group_get_number_of_snapshots(kGroup, nullptr); });
  const char* const snapshot = "Fenix_Data_group_get_snapshot_at_position";
  add(snapshot, "time_stamp NULL", kBad, "time_stamp",
      [] { return Fenix_Data_group_get_snapshot_at_position(kGroup, 0, nullptr); });
  add(snapshot, "position negative", kPosition, "position -1",
      [] { return Fenix_Data_group_get_snapshot_at_position(kGroup, -1, &number); });
  add(snapshot, "position = number of snapshots", kPosition, "position 2",
      [] { return Fenix_Data_group_get_snapshot_at_position(kGroup, 2, &number); });
  add("Fenix_Data_group_delete", "FENIX_DATA_GROUP_WORLD_ID", FENIX_ERROR_INVALID_GROUPID, "group_id",
      [] { return Fenix_Data_group_delete(FENIX_DATA_GROUP_WORLD_ID); });
}

}  // namespace

void add_group_rows(Rows& rows) {
  add_creation_rows(rows);
  add_policy_rows(rows);
  add_hashing_rows(rows);
  add_query_rows(rows);
}

}  // namespace bad_input
