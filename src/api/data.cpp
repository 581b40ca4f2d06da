// SPDX-License-Identifier: BSD-3-Clause
// Data groups, members, snapshots.
#include <fenix.h>

#include <algorithm>
#include <optional>
#include <string>

#include "api/entry.hpp"
#include "rma/mpi_team.hpp"

using namespace fenix_impl;

namespace {

// What the address of FENIX_DATA_SUBSET_FULL stands for.
const char kFull = 0;

constexpr int kBuddyMode = 1;

bool is_full(const Fenix_Data_subset& subset) { return subset.impl == &kFull; }

std::string named(const char* name, int value) { return std::string(name) + " " + std::to_string(value); }

void check_group_arguments(int group_id, int size, int start_time_stamp, int depth, int policy_name,
                           const int* policy) {
  constexpr int kMostDepth = 4096;
  if (group_id < 0 || group_id >= FENIX_GROUP_ID_MAX) {
    throw Error(FENIX_ERROR_INVALID_GROUPID, named("group_id", group_id) + " is out of range");
  }
  if (start_time_stamp < 0 || start_time_stamp >= FENIX_TIME_STAMP_MAX) {
    throw Error(FENIX_ERROR_INVALID_TIMESTART, named("start_time_stamp", start_time_stamp) + " is out of range");
  }
  if (depth < 0 || depth >= kMostDepth)
    throw Error(FENIX_ERROR_INVALID_DEPTH, named("depth", depth) + " is out of range");
  if (policy_name != FENIX_DATA_POLICY_IN_MEMORY_RAID) {
    throw Error(FENIX_ERROR_INVALID_POLICY_NAME, named("policy_name", policy_name) + " does not exist");
  }
  if (policy == nullptr) return;
  if (policy[0] != kBuddyMode) {
    throw Error(FENIX_ERROR_INVALID_POLICY_VALUE, named("policy_value: mode", policy[0]) + " does not exist");
  }
  if (policy[1] < 1 || policy[1] >= std::max(size, 2)) {
    throw Error(FENIX_ERROR_INVALID_POLICY_VALUE,
                named("policy_value: separation", policy[1]) + " is not in [1, size of comm)");
  }
}

void check_member_arguments(int member_id, int count, MPI_Datatype datatype) {
  if (member_id < 0 || member_id >= FENIX_MEMBER_ID_MAX) {
    throw Error(FENIX_ERROR_INVALID_MEMBERID, named("member_id", member_id) + " is out of range");
  }
  if (count < 0) throw Error(FENIX_ERROR_INVALID_ARGUMENT, named("count", count) + " is negative");
  if (datatype == MPI_DATATYPE_NULL) throw Error(FENIX_ERROR_INVALID_ARGUMENT, "datatype is MPI_DATATYPE_NULL");
  MPI_Aint lower_bound = 0;
  MPI_Aint extent = 0;
  int size = 0;
  check_mpi(MPI_Type_get_extent(datatype, &lower_bound, &extent), "MPI_Type_get_extent");
  check_mpi(MPI_Type_size(datatype, &size), "MPI_Type_size");
  if (lower_bound != 0 || extent != size || size == 0) {
    throw Error(FENIX_ERROR_INVALID_ARGUMENT, "datatype has holes, or a lower bound that is not 0, or no bytes");
  }
}

MemberInfo member_info(int member_id, MPI_Datatype datatype) {
  if (datatype == MPI_DATATYPE_NULL) return {member_id, 0, 0};
  int size = 0;
  MPI_Type_size(datatype, &size);
  return {member_id, MPI_Type_c2f(datatype), static_cast<std::uint32_t>(size)};
}

Member& member_of(const Group& group, int member_id) {
  Member* member = group.find(member_id);
  if (member == nullptr)
    throw Error(FENIX_ERROR_INVALID_MEMBERID, named("member_id", member_id) + " is not in the group");
  return *member;
}

int commit(int group_id, int* time_stamp, bool barrier) {
  return ready_entry([&]() -> int {
    Group& group = runtime().working_group(group_id);
    const int made = group.commit();
    // Before the wait: the commit stands even if that ends early.
    if (time_stamp != nullptr) *time_stamp = made;
    if (barrier) group.wait_for_commit_on_all();
    return FENIX_SUCCESS;
  });
}

}  // namespace

extern "C" {

const Fenix_Data_subset FENIX_DATA_SUBSET_FULL = {&kFull};

int Fenix_Data_group_create(int group_id, MPI_Comm comm, int start_time_stamp, int depth, int policy_name,
                            void* policy_value, int* flag) {
  return ready_entry([&]() -> int {
    const int size = static_cast<int>(runtime().process().places_of(comm).size());
    const int* policy = static_cast<const int*>(policy_value);
    const int separation = policy != nullptr ? policy[1] : std::max(size / 2, 1);
    const auto result = runtime().create_group({group_id, start_time_stamp, depth, separation}, comm, [&] {
      check_group_arguments(group_id, size, start_time_stamp, depth, policy_name, policy);
    });
    if (flag != nullptr) *flag = result.snapshots_lost ? FENIX_ERROR_NODATA_FOUND : FENIX_SUCCESS;
    return FENIX_SUCCESS;
  });
}

int Fenix_Data_group_created(int group_id) {
  return ready_entry([&]() -> int { return runtime().has_group(group_id) ? 1 : 0; });
}

int Fenix_Data_member_create(int group_id, int member_id, void* buffer, int count, MPI_Datatype datatype) {
  return ready_entry([&]() -> int {
    Group& group = runtime().working_group(group_id);
    const auto elements = static_cast<std::uint64_t>(std::max(count, 0));
    group.create_member(member_info(member_id, datatype), buffer, elements,
                        [&] { check_member_arguments(member_id, count, datatype); });
    return FENIX_SUCCESS;
  });
}

int Fenix_Data_member_created(int group_id, int member_id) {
  return ready_entry([&]() -> int {
    return runtime().has_group(group_id) && runtime().group(group_id).find(member_id) != nullptr ? 1 : 0;
  });
}

int Fenix_Data_member_attr_set(int group_id, int member_id, int attribute_name, void* attribute_value, int* flag) {
  return ready_entry([&]() -> int {
    if (flag != nullptr) *flag = 0;
    Member& member = member_of(runtime().group(group_id), member_id);
    if (attribute_name != FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER) {
      throw Error(FENIX_ERROR_INVALID_ATTRIBUTE_NAME, named("attribute_name", attribute_name) + " cannot be set");
    }
    if (attribute_value == nullptr) throw Error(FENIX_ERROR_INVALID_ATTRIBUTE_VALUE, "attribute_value is NULL");
    member.buffer = attribute_value;
    if (flag != nullptr) *flag = 1;
    return FENIX_SUCCESS;
  });
}

int Fenix_Data_member_store(int group_id, int member_id, const Fenix_Data_subset subset_specifier) {
  return ready_entry([&]() -> int {
    Group& group = runtime().working_group(group_id);
    if (!is_full(subset_specifier)) {
      throw Error(FENIX_ERROR_INVALID_ARGUMENT, "subset_specifier is not FENIX_DATA_SUBSET_FULL");
    }
    if (member_id != FENIX_DATA_MEMBER_ALL) {
      group.store(member_of(group, member_id));
      return FENIX_SUCCESS;
    }
    // All or none: a member that cannot be stored is found before the first one is.
    for (const auto& member : group.members()) Group::check_storable(*member);
    for (const auto& member : group.members()) group.store(*member);
    return FENIX_SUCCESS;
  });
}

int Fenix_Data_commit(int group_id, int* time_stamp) { return commit(group_id, time_stamp, false); }

int Fenix_Data_commit_barrier(int group_id, int* time_stamp) { return commit(group_id, time_stamp, true); }

int Fenix_Data_member_restore(int group_id, int member_id, void* target_buffer, int max_count, int time_stamp,
                              Fenix_Data_subset* found_data) {
  return ready_entry([&]() -> int {
    Group& group = runtime().working_group(group_id);
    const bool latest = time_stamp == FENIX_DATA_SNAPSHOT_LATEST || time_stamp == FENIX_DATA_SNAPSHOT_ALL;
    group.restore(member_id, latest ? std::nullopt : std::optional(time_stamp), target_buffer, max_count, [&] {
      if (max_count < 0) throw Error(FENIX_ERROR_INVALID_ARGUMENT, named("max_count", max_count) + " is negative");
    });
    if (found_data != nullptr) *found_data = FENIX_DATA_SUBSET_FULL;
    return FENIX_SUCCESS;
  });
}

int Fenix_Data_group_get_number_of_snapshots(int group_id, int* number_of_snapshots) {
  return ready_entry([&]() -> int {
    Group& group = runtime().group(group_id);
    require(number_of_snapshots, "number_of_snapshots");
    *number_of_snapshots = static_cast<int>(group.snapshots().size());
    return FENIX_SUCCESS;
  });
}

int Fenix_Data_group_get_snapshot_at_position(int group_id, int position, int* time_stamp) {
  return ready_entry([&]() -> int {
    const auto snapshots = runtime().group(group_id).snapshots();
    require(time_stamp, "time_stamp");
    if (position < 0 || position >= static_cast<int>(snapshots.size())) {
      throw Error(FENIX_ERROR_INVALID_POSITION, named("position", position) + " is not in [0, number of snapshots)");
    }
    *time_stamp = snapshots[static_cast<std::size_t>(position)];
    return FENIX_SUCCESS;
  });
}

}  // extern "C"
