// SPDX-License-Identifier: BSD-3-Clause
// The functions that <fenix/spec.h> puts in the place of those of <fenix/data.h>, where they do something else.
#include <fenix/spec.h>

#include "api/c/groups.hpp"
#include "api/c/restoring.hpp"

using namespace fenix_impl;

extern "C" {

int fenix_detail_spec_restore(int group_id, int member_id, void* target_buffer, int max_count, int time_stamp) {
  return restore_on_all(group_id, member_id, {target_buffer, max_count, /*by_specification=*/true}, time_stamp,
                        FENIX_DATA_SUBSET_IGNORE);
}

int fenix_detail_spec_restore_from_rank(int group_id, int member_id, void* target_buffer, int max_count, int time_stamp,
                                        int source_rank) {
  return restore_from_rank(group_id, member_id, {target_buffer, max_count, /*by_specification=*/true}, time_stamp,
                           FENIX_DATA_SUBSET_IGNORE, source_rank);
}

int fenix_detail_spec_number_of_snapshots(int group_id, int* number_of_snapshots) {
  return ready_entry([&]() -> int {
    Group& group = runtime().working_group(group_id);
    const auto number = group.snapshots().count([&] { require(number_of_snapshots, "number_of_snapshots"); });
    *number_of_snapshots = static_cast<int>(number);
    return FENIX_SUCCESS;
  });
}

int fenix_detail_spec_snapshot_at_position(int group_id, int position, int* time_stamp) {
  return ready_entry([&]() -> int {
    const auto snapshots = runtime().group(group_id).snapshots().counted();
    require(time_stamp, "time_stamp");
    *time_stamp = snapshots[index_of(position, snapshots.size(), "snapshots")];
    return FENIX_SUCCESS;
  });
}

int fenix_detail_spec_snapshot_delete(int group_id, int time_stamp) {
  return ready_entry([&]() -> int {
    runtime().attached_group(group_id).delete_snapshot(choice_of(time_stamp));
    return FENIX_SUCCESS;
  });
}

}  // extern "C"
