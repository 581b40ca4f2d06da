// SPDX-License-Identifier: BSD-3-Clause
// Each wrong argument gets its code and a text that names it, and harms nothing that is stored (P7).
#include <array>
#include <functional>
#include <string>
#include <vector>

#include "check.hpp"

namespace {

using check::expect_equal;
using check::require;
using check::success;

constexpr int kGroup = 3;
constexpr int kMember = 5;
constexpr int kCount = 40;

MPI_Comm comm = MPI_COMM_NULL;
int rank = -1;
std::array<double, kCount> buffer{};
int policy[2] = {1, 1};

// The text must name the argument: it is what the user sees.
void expect(int code, int wanted, const std::string& named, const std::string& what) {
  expect_equal(code, wanted, what);
  const std::string text = Fenix_Error_message();
  require(text.find(named) != std::string::npos, what + ": the text does not name " + named);
}

void check_stored() {
  std::array<double, kCount> restored{};
  success(Fenix_Data_member_restore(kGroup, kMember, restored.data(), kCount, FENIX_DATA_SNAPSHOT_LATEST, nullptr),
          "restore of what was stored before");
  for (int i = 0; i < kCount; ++i) {
    require(restored[static_cast<std::size_t>(i)] == rank * 100 + i, "stored data was harmed");
  }
  int snapshots = 0;
  success(Fenix_Data_group_get_number_of_snapshots(kGroup, &snapshots), "number_of_snapshots");
  expect_equal(snapshots, 1, "number of snapshots");
}

int create(int id, MPI_Comm on, int start, int depth, int name, void* value) {
  return Fenix_Data_group_create(id, on, start, depth, name, value, nullptr);
}

void outside_of_use(const std::string& when) {
  int number = 0;
  int* list = nullptr;
  const auto refused = [&](int code, const std::string& call) {
    expect(code, FENIX_ERROR_UNINITIALIZED, when, call + " " + when);
  };
  refused(create(1, MPI_COMM_WORLD, 0, 0, FENIX_DATA_POLICY_IMR, nullptr), "group_create");
  refused(Fenix_Data_member_create(1, 1, buffer.data(), 1, MPI_INT), "member_create");
  refused(Fenix_Data_member_store(1, 1, FENIX_DATA_SUBSET_FULL), "store");
  refused(Fenix_Data_commit(1, nullptr), "commit");
  refused(Fenix_Data_commit_barrier(1, nullptr), "commit_barrier");
  refused(Fenix_Data_member_restore(1, 1, buffer.data(), 1, 0, nullptr), "restore");
  refused(Fenix_Data_member_attr_set(1, 1, FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER, &number, nullptr), "attr_set");
  refused(Fenix_Data_group_get_number_of_snapshots(1, &number), "number_of_snapshots");
  refused(Fenix_Data_group_get_snapshot_at_position(1, 0, &number), "snapshot_at_position");
  refused(Fenix_Data_group_created(1), "group_created");
  refused(Fenix_Data_member_created(1, 1), "member_created");
  refused(Fenix_Callback_pop(), "callback_pop");
  refused(Fenix_Process_fail_list(&list), "fail_list");
  refused(Fenix_Process_detect_failures(1), "detect_failures");
  refused(Fenix_get_nspare(), "get_nspare");
  refused(Fenix_get_error(), "get_error");
  refused(Fenix_Finalize(), "finalize");
}

void groups() {
  expect(create(-1, comm, 0, 0, FENIX_DATA_POLICY_IMR, policy), FENIX_ERROR_INVALID_GROUPID, "group_id",
         "negative group id");
  expect(create(FENIX_GROUP_ID_MAX, comm, 0, 0, FENIX_DATA_POLICY_IMR, policy), FENIX_ERROR_INVALID_GROUPID, "group_id",
         "large group id");
  expect(create(9, MPI_COMM_NULL, 0, 0, FENIX_DATA_POLICY_IMR, policy), FENIX_ERROR_INVALID_ARGUMENT, "comm",
         "null comm");
  expect(create(9, comm, -1, 0, FENIX_DATA_POLICY_IMR, policy), FENIX_ERROR_INVALID_TIMESTART, "start_time_stamp",
         "start");
  expect(create(9, comm, 0, -1, FENIX_DATA_POLICY_IMR, policy), FENIX_ERROR_INVALID_DEPTH, "depth", "negative depth");
  expect(create(9, comm, 0, 0, 12345, policy), FENIX_ERROR_INVALID_POLICY_NAME, "policy_name", "policy name");
  int bad_mode[2] = {2, 1};
  expect(create(9, comm, 0, 0, FENIX_DATA_POLICY_IMR, bad_mode), FENIX_ERROR_INVALID_POLICY_VALUE, "mode", "mode");
  int no_separation[2] = {1, 0};
  expect(create(9, comm, 0, 0, FENIX_DATA_POLICY_IMR, no_separation), FENIX_ERROR_INVALID_POLICY_VALUE, "separation",
         "zero");
  int far[2] = {1, 3};
  expect(create(9, comm, 0, 0, FENIX_DATA_POLICY_IMR, far), FENIX_ERROR_INVALID_POLICY_VALUE, "separation", "too far");
  expect(create(9, comm, 0, rank == 1 ? -5 : 0, FENIX_DATA_POLICY_IMR, policy), FENIX_ERROR_INVALID_DEPTH,
         rank == 1 ? "depth" : "rank 1", "an error on one rank only");
  expect(create(9, comm, 0, rank, FENIX_DATA_POLICY_IMR, policy), FENIX_ERROR_MISMATCH, "different arguments",
         "depths that differ");
  expect_equal(Fenix_Data_group_created(9), 0, "group_created after all that");
}

void members() {
  const auto add = [](int group, int id, void* data, int count, MPI_Datatype type) {
    return Fenix_Data_member_create(group, id, data, count, type);
  };
  expect(add(99, 1, buffer.data(), 1, MPI_INT), FENIX_ERROR_INVALID_GROUPID, "group_id 99", "unknown group");
  expect(add(kGroup, -1, buffer.data(), 1, MPI_INT), FENIX_ERROR_INVALID_MEMBERID, "member_id", "negative member id");
  expect(add(kGroup, FENIX_MEMBER_ID_MAX, buffer.data(), 1, MPI_INT), FENIX_ERROR_INVALID_MEMBERID, "member_id",
         "large id");
  expect(add(kGroup, kMember, buffer.data(), 1, MPI_INT), FENIX_ERROR_MEMBER_EXISTS, "member_id 5", "taken id");
  expect(add(kGroup, 6, buffer.data(), -2, MPI_INT), FENIX_ERROR_INVALID_ARGUMENT, "count", "negative count");
  expect(add(kGroup, 6, buffer.data(), 1, MPI_DATATYPE_NULL), FENIX_ERROR_INVALID_ARGUMENT, "datatype", "null type");
  MPI_Datatype holes = MPI_DATATYPE_NULL;
  MPI_Type_vector(2, 1, 3, MPI_INT, &holes);
  MPI_Type_commit(&holes);
  expect(add(kGroup, 6, buffer.data(), 1, holes), FENIX_ERROR_INVALID_ARGUMENT, "datatype", "type with holes");
  MPI_Type_free(&holes);
  expect(add(kGroup, rank == 2 ? 7 : 6, buffer.data(), 1, MPI_INT), FENIX_ERROR_MISMATCH, "different arguments",
         "ids that differ");
  expect(add(kGroup, 6, buffer.data(), rank == 0 ? -1 : 1, MPI_INT), FENIX_ERROR_INVALID_ARGUMENT,
         rank == 0 ? "count" : "rank 0", "an error on one rank only");
  expect_equal(Fenix_Data_member_created(kGroup, 6), 0, "member_created after all that");
  expect(add(kGroup, 6, buffer.data(), 0x7fffffff, MPI_DOUBLE), FENIX_ERROR_NO_MEMORY, "memory", "more than there is");
  expect_equal(Fenix_Data_member_created(kGroup, 6), 0, "member_created for lack of memory");
}

void attributes() {
  int flag = 7;
  const auto set = [&](int group, int member, int name, void* value) {
    return Fenix_Data_member_attr_set(group, member, name, value, &flag);
  };
  constexpr int kBuffer = FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER;
  expect(set(99, kMember, kBuffer, &flag), FENIX_ERROR_INVALID_GROUPID, "group_id 99", "unknown group");
  expect(set(kGroup, 99, kBuffer, &flag), FENIX_ERROR_INVALID_MEMBERID, "member_id 99", "unknown member");
  expect(set(kGroup, kMember, 4711, &flag), FENIX_ERROR_INVALID_ATTRIBUTE_NAME, "attribute_name", "unknown attribute");
  expect(set(kGroup, kMember, FENIX_DATA_MEMBER_ATTRIBUTE_COUNT, &flag), FENIX_ERROR_INVALID_ATTRIBUTE_NAME,
         "attribute_name", "read-only attribute");
  expect(set(kGroup, kMember, kBuffer, nullptr), FENIX_ERROR_INVALID_ATTRIBUTE_VALUE, "attribute_value", "null buffer");
  expect_equal(flag, 0, "flag");
}

void storing() {
  expect(Fenix_Data_member_store(99, kMember, FENIX_DATA_SUBSET_FULL), FENIX_ERROR_INVALID_GROUPID, "group_id 99",
         "store");
  expect(Fenix_Data_member_store(kGroup, 99, FENIX_DATA_SUBSET_FULL), FENIX_ERROR_INVALID_MEMBERID, "member_id 99",
         "store");
  const Fenix_Data_subset unknown{&unknown};
  expect(Fenix_Data_member_store(kGroup, kMember, unknown), FENIX_ERROR_INVALID_ARGUMENT, "subset_specifier", "subset");
  expect(Fenix_Data_commit(99, nullptr), FENIX_ERROR_INVALID_GROUPID, "group_id 99", "commit");
  expect(Fenix_Data_commit_barrier(99, nullptr), FENIX_ERROR_INVALID_GROUPID, "group_id 99", "commit_barrier");
}

void restoring() {
  std::array<double, kCount> target{};
  target.fill(-1);
  const auto get = [&](int group, int member, int count, int time_stamp) {
    return Fenix_Data_member_restore(group, member, target.data(), count, time_stamp, nullptr);
  };
  expect(get(99, kMember, kCount, 0), FENIX_ERROR_INVALID_GROUPID, "group_id 99", "unknown group");
  expect(get(kGroup, 99, kCount, 0), FENIX_ERROR_INVALID_MEMBERID, "member_id 99", "unknown member");
  expect(get(kGroup, kMember, -1, 0), FENIX_ERROR_INVALID_ARGUMENT, "max_count", "negative count");
  expect(get(kGroup, kMember, kCount - 1, FENIX_DATA_SNAPSHOT_LATEST), FENIX_ERROR_BUFFER_TOO_SMALL, "max_count",
         "small");
  expect(get(kGroup, kMember, rank == 1 ? 2 : kCount, FENIX_DATA_SNAPSHOT_LATEST), FENIX_ERROR_BUFFER_TOO_SMALL,
         rank == 1 ? "max_count" : "rank 1", "small on one rank only");
  expect(get(kGroup, kMember, kCount, 1), FENIX_ERROR_INVALID_TIMESTAMP, "time_stamp 1", "a time stamp to come");
  expect(get(kGroup, kMember, kCount, -7), FENIX_ERROR_INVALID_TIMESTAMP, "time_stamp -7", "a negative time stamp");
  expect(get(kGroup, kMember, kCount, rank), FENIX_ERROR_MISMATCH, "different arguments", "time stamps that differ");
  for (const double value : target) require(value == -1, "the target was changed in spite of an error");
}

void queries() {
  int number = 0;
  expect(Fenix_Data_group_get_number_of_snapshots(99, &number), FENIX_ERROR_INVALID_GROUPID, "group_id 99", "count");
  expect(Fenix_Data_group_get_number_of_snapshots(kGroup, nullptr), FENIX_ERROR_INVALID_ARGUMENT, "number_of_snapshots",
         "null");
  expect(Fenix_Data_group_get_snapshot_at_position(99, 0, &number), FENIX_ERROR_INVALID_GROUPID, "group_id 99",
         "position");
  expect(Fenix_Data_group_get_snapshot_at_position(kGroup, 1, &number), FENIX_ERROR_INVALID_POSITION, "position 1",
         "large");
  expect(Fenix_Data_group_get_snapshot_at_position(kGroup, -1, &number), FENIX_ERROR_INVALID_POSITION, "position -1",
         "low");
  expect(Fenix_Data_group_get_snapshot_at_position(kGroup, 0, nullptr), FENIX_ERROR_INVALID_ARGUMENT, "time_stamp",
         "null");
  expect(Fenix_Initialized(nullptr), FENIX_ERROR_INVALID_ARGUMENT, "flag", "null");
  expect(Fenix_Callback_register(nullptr, nullptr), FENIX_ERROR_CALLBACK_NOT_REGISTERED, "recover", "null callback");
  expect(Fenix_Callback_pop(), FENIX_ERROR_CALLBACK_NOT_REGISTERED, "callback", "nothing to pop");
  expect(Fenix_Get_role(comm, 99, &number), FENIX_ERROR_INVALID_ARGUMENT, "rank 99", "unknown rank");
  expect(Fenix_Get_role(MPI_COMM_NULL, 0, &number), FENIX_ERROR_INVALID_ARGUMENT, "comm", "null comm");
  expect(Fenix_Get_number_of_ranks_with_role(comm, 17, &number), FENIX_ERROR_INVALID_ARGUMENT, "role 17",
         "unknown role");
  expect(Fenix_set_option(FENIX_SETTING_NAME_MAXCODE, 0), FENIX_ERROR_INVALID_SETTING_NAME, "setting", "setting");
  expect(Fenix_set_option(FENIX_RESUME_MODE, 99), FENIX_ERROR_INVALID_SETTING_OPTION, "option 99", "option");
  expect(Fenix_Process_repair_times(nullptr, nullptr), FENIX_ERROR_INVALID_ARGUMENT, "noticed", "null");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  outside_of_use("before Fenix_Init");
  static int role = -1;
  static int error = 0;
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 3, &error);
  expect(error, FENIX_ERROR_INVALID_ARGUMENT, "spare_ranks", "as many spares as ranks");
  require(comm == MPI_COMM_NULL, "newcomm after a failed Fenix_Init");
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 0, 1, MPI_INFO_NULL, &error);
  expect(error, FENIX_ERROR_INVALID_ARGUMENT, "spawn", "spawning");
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "FENIX_RESUME_MODE", "SIDEWAYS");
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 0, 0, info, &error);
  expect(error, FENIX_ERROR_INVALID_SETTING_OPTION, "FENIX_RESUME_MODE", "a resume mode that does not exist");
  MPI_Info_free(&info);
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 0, &error);
  success(error, "Fenix_Init");
  MPI_Comm_rank(comm, &rank);
  const MPI_Comm first = comm;
  static int again = 0;
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 0, &again);
  expect(again, FENIX_ERROR_INVALID_LOGIC_CALL, "before", "a second Fenix_Init");
  require(comm == first, "a second Fenix_Init took the communicator away");

  success(create(kGroup, comm, 0, 0, FENIX_DATA_POLICY_IMR, policy), "group_create");
  success(Fenix_Data_member_create(kGroup, kMember, buffer.data(), kCount, MPI_DOUBLE), "member_create");
  double target = 0;
  expect(Fenix_Data_member_restore(kGroup, kMember, &target, 1, FENIX_DATA_SNAPSHOT_LATEST, nullptr),
         FENIX_ERROR_NODATA_FOUND, "snapshot", "restore before any commit");
  for (int i = 0; i < kCount; ++i) buffer[static_cast<std::size_t>(i)] = rank * 100 + i;
  success(Fenix_Data_member_store(kGroup, kMember, FENIX_DATA_SUBSET_FULL), "store");
  success(Fenix_Data_commit_barrier(kGroup, nullptr), "commit_barrier");

  for (const auto& part : {groups, members, attributes, storing, restoring, queries}) {
    part();
    check_stored();
  }
  // And the next commit works.
  int time_stamp = -1;
  success(Fenix_Data_member_store(kGroup, kMember, FENIX_DATA_SUBSET_FULL), "store");
  success(Fenix_Data_commit_barrier(kGroup, &time_stamp), "commit_barrier");
  expect_equal(time_stamp, 1, "time stamp");
  check_stored();
  success(Fenix_Finalize(), "Fenix_Finalize");
  outside_of_use("after Fenix_Finalize");
  check::ok(rank);
  MPI_Finalize();
  return 0;
}
