// SPDX-License-Identifier: BSD-3-Clause
// Data groups: creation, deletion, policies, queries.
#include "api/c/groups.hpp"

#include <fenix.h>

#include <algorithm>
#include <new>
#include <string>
#include <vector>

#include "api/c/policies.hpp"
#include "base/environment.hpp"
#include "interposition/interposer.hpp"

using namespace fenix_impl;

namespace {

void check_group_arguments(int start_time_stamp, int depth) {
  constexpr int kMostDepth = 4096;
  if (start_time_stamp < 0 || start_time_stamp >= FENIX_TIME_STAMP_MAX) {
    throw Error(FENIX_ERROR_INVALID_TIMESTART, named("start_time_stamp", start_time_stamp) + " is out of range");
  }
  if (depth < GroupParameters::kKeepAll || depth >= kMostDepth) {
    throw Error(FENIX_ERROR_INVALID_DEPTH, named("depth", depth) + " is out of range");
  }
}

int set_flag(int* flag, int value) {
  if (flag != nullptr) *flag = value;
  return FENIX_SUCCESS;
}

}  // namespace

extern "C" {

int Fenix_Data_group_create(int group_id, MPI_Comm given, int start_time_stamp, int depth, int policy_name,
                            void* policy_value, int* flag) {
  const MPI_Comm comm = present(given);
  const auto create = [&] {
    const int size = static_cast<int>(runtime().process().comms().ranks_of(comm).size());
    const int* values = static_cast<const int*>(policy_value);
    const Policy policy = policy_from(policy_name, values);
    GroupParameters wanted{group_id, start_time_stamp, depth, policy};
    wanted.in_place = depth == 0 && environment::is_on("FENIX_IN_PLACE") ? 1 : 0;
    const auto result = runtime().groups().create(wanted, comm, [&] {
      check_group_arguments(start_time_stamp, depth);
      check_policy(policy_name, values, size);
    });
    if (result.resumed) return set_flag(flag, FENIX_WARNING_RESUMED);
    if (result.snapshots_lost) return set_flag(flag, FENIX_ERROR_NODATA_FOUND);
    return set_flag(flag, result.shares_fate ? FENIX_WARNING_SHARED_FATE : FENIX_SUCCESS);
  };
  return ready_entry([&]() -> int {
    try {
      return create();
    } catch (const std::bad_alloc&) {
      // This rank has not begun the collective work, in which the other ranks wait for it.
      runtime().teams().withdraw_from(comm);
      throw;
    }
  });
}

int Fenix_Data_group_created(int group_id) {
  return ready_entry([&]() -> int { return runtime().has_group(group_id) ? 1 : 0; });
}

int Fenix_Data_group_delete(int group_id) {
  return ready_entry([&]() -> int {
    runtime().groups().remove(group_id);
    return FENIX_SUCCESS;
  });
}

int Fenix_Data_group_get_redundancy_policy(int group_id, int* policy_name, void* policy_value, int* flag) {
  return ready_entry([&]() -> int {
    const Group& group = runtime().group(group_id);
    require(policy_name, "policy_name");
    require(policy_value, "policy_value");
    const Policy& policy = group.parameters().policy;
    const bool formed = group.ranks().size > 0;  // FENIX_DATA_GROUP_WORLD_ID is not, before its first collective call
    const Placement placement = formed
                                    ? group.ranks().placement
                                    : Placement(policy, static_cast<int>(runtime().process().members().roles().size()));
    *policy_name = policy_to(policy, placement, static_cast<int*>(policy_value));
    return set_flag(flag, FENIX_SUCCESS);
  });
}

int Fenix_Data_group_set_redundancy_policy(int group_id, int policy_name, void* policy_value, int* flag) {
  return ready_entry([&]() -> int {
    (void)set_flag(flag, 0);
    Group& group = runtime().working_group(group_id);
    const int* values = static_cast<const int*>(policy_value);
    group.policy_change().set_policy(policy_from(policy_name, values),
                                     [&] { check_policy(policy_name, values, group.ranks().size); });
    return set_flag(flag, 1);
  });
}

int Fenix_Data_group_get_cohort(int group_id, MPI_Group* cohort) {
  return ready_entry([&]() -> int {
    const GroupRanks& ranks = runtime().attached_group(group_id).ranks();
    require(cohort, "cohort");
    std::vector<int> members = ranks.partners();
    members.insert(std::lower_bound(members.begin(), members.end(), ranks.rank), ranks.rank);
    const std::vector<int>& numbers = runtime().groups().ranks_of(group_id);
    std::transform(members.begin(), members.end(), members.begin(),
                   [&](int rank) { return numbers.at(static_cast<std::size_t>(rank)); });
    *cohort = runtime().process().comms().group_of(members);
    return FENIX_SUCCESS;
  });
}

int Fenix_Data_group_set_hashing(int group_id, int hashing) {
  return ready_entry([&]() -> int {
    runtime().working_group(group_id).policy_change().set_hashing(hashing != 0, [] {});
    return FENIX_SUCCESS;
  });
}

int Fenix_Data_group_get_hashing(int group_id, int* hashing) {
  return ready_entry([&]() -> int {
    const Group& group = runtime().group(group_id);
    require(hashing, "hashing");
    *hashing = group.parameters().hashing;
    return FENIX_SUCCESS;
  });
}

int Fenix_Data_group_set_in_place(int group_id, int in_place) {
  return ready_entry([&]() -> int {
    Group& group = runtime().working_group(group_id);
    group.policy_change().set_in_place(in_place != 0, [&] {
      if (in_place == 0 || group.parameters().depth == 0) return;
      throw Error(FENIX_ERROR_INVALID_DEPTH, "in_place needs a group of depth 0, and group_id " +
                                                 std::to_string(group_id) + " has depth " +
                                                 std::to_string(group.parameters().depth));
    });
    return FENIX_SUCCESS;
  });
}

int Fenix_Data_group_get_in_place(int group_id, int* in_place) {
  return ready_entry([&]() -> int {
    const Group& group = runtime().group(group_id);
    require(in_place, "in_place");
    *in_place = group.parameters().in_place;
    return FENIX_SUCCESS;
  });
}

int Fenix_Data_group_get_number_of_members(int group_id, int* number_of_members) {
  return ready_entry([&]() -> int {
    const Group& group = runtime().group(group_id);
    require(number_of_members, "number_of_members");
    *number_of_members = static_cast<int>(group.members().size());
    return FENIX_SUCCESS;
  });
}

int Fenix_Data_group_get_member_at_position(int group_id, int* member_id, int position) {
  return ready_entry([&]() -> int {
    const auto& members = runtime().group(group_id).members();
    require(member_id, "member_id");
    *member_id = members[index_of(position, members.size(), "members")].id();
    return FENIX_SUCCESS;
  });
}

int Fenix_Data_group_get_number_of_snapshots(int group_id, int* number_of_snapshots) {
  return ready_entry([&]() -> int {
    Group& group = runtime().group(group_id);
    require(number_of_snapshots, "number_of_snapshots");
    *number_of_snapshots = static_cast<int>(group.snapshots().own().size());
    return FENIX_SUCCESS;
  });
}

int Fenix_Data_group_get_snapshot_at_position(int group_id, int position, int* time_stamp) {
  return ready_entry([&]() -> int {
    const auto snapshots = runtime().group(group_id).snapshots().own();
    require(time_stamp, "time_stamp");
    *time_stamp = snapshots[index_of(position, snapshots.size(), "snapshots")];
    return FENIX_SUCCESS;
  });
}

}  // extern "C"
