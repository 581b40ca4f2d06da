// SPDX-License-Identifier: BSD-3-Clause
// Restoring, loading, repairing.
#include "api/c/restoring.hpp"

#include <fenix.h>

#include <algorithm>
#include <limits>
#include <string>

#include "api/c/groups.hpp"
#include "api/c/subsets.hpp"
#include "core/common/meeting.hpp"

using namespace fenix_impl;

namespace {

void check_destination(const Member& member, const Destination& to) {
  require_closed(member);
  if (to.max_count < 0 && to.max_count != FENIX_DATA_RESTORE_FULL) {
    throw Error(FENIX_ERROR_INVALID_ARGUMENT, named("max_count", to.max_count) + " is negative");
  }
  if (to.max_count == 0) return;
  const std::string of_member = named("member_id", member.id());
  if (to.buffer == FENIX_DATA_RESTORE_INPLACE && member.buffer() == nullptr && !member.serializer()) {
    throw Error(FENIX_ERROR_INVALID_ARGUMENT,
                "target_buffer is FENIX_DATA_RESTORE_INPLACE, but " + of_member + " has no source buffer");
  }
  // In the current Fenix, NULL is the source buffer: a program that means it must not go on without its data.
  if (to.buffer == nullptr && member.buffer() != nullptr && !to.by_specification) {
    throw Error(FENIX_ERROR_INVALID_ARGUMENT, "target_buffer is NULL, but " + of_member +
                                                  " has a source buffer: FENIX_DATA_RESTORE_INPLACE, or max_count 0");
  }
}

/// Describes the target of a restore. member may be null: then the result is not used, because the call reports an
/// error.
Target target_of(const Member* member, const Destination& to) {
  const bool in_place = to.buffer == FENIX_DATA_RESTORE_INPLACE;
  Target target;
  target.in_place = in_place;
  target.buffer = in_place && member != nullptr ? const_cast<void*>(member->buffer()) : to.buffer;
  if (to.max_count >= 0) (to.by_specification ? target.room : target.limit) = static_cast<std::uint64_t>(to.max_count);
  if (in_place && member != nullptr && !member->info().resizeable) {
    target.room = std::min(target.room, member->own_count());
  }
  return target;
}

/// Makes the target the source of stores on a rank that has taken a dead one's place, as the current Fenix does. Programs
/// that restore there, and say nothing else of the member, then store from it. Not where a store would read beyond it.
void adopt_target(Member& member, const Destination& to, const Found& found) {
  if (member.is_claimed() || member.buffer() != nullptr || to.by_specification) return;
  if (to.buffer == nullptr || to.buffer == FENIX_DATA_RESTORE_INPLACE) return;
  const std::uint64_t needed = std::max(member.own_count(), found.elements.end());
  if (to.max_count >= 0 && static_cast<std::uint64_t>(to.max_count) < needed) return;
  member.set_buffer(to.buffer);
}

int give(const Found& found, Fenix_Data_subset* found_data) {
  // The collective restore is complete: the other ranks do not wait for this one any more.
  alone([&] {
    if (found_data != FENIX_DATA_SUBSET_IGNORE) *found_data = make_subset(found.elements);
  });
  if (!found.partial) return FENIX_SUCCESS;
  return report(FENIX_WARNING_PARTIAL_RESTORE, "some of the elements wanted are in no snapshot");
}

int restore_own(int group_id, int member_id, const Destination& to, int time_stamp, Fenix_Data_subset* found_data) {
  return ready_entry([&]() -> int {
    Group& group = runtime().attached_group(group_id);
    Member& member = member_of(group, member_id);
    if (!is_known_here(group.parameters(), member)) throw Error(unknown_here(member));
    check_destination(member, to);
    return give(group.restores().run_alone(member, choice_of(time_stamp), target_of(&member, to)), found_data);
  });
}

}  // namespace

namespace fenix_impl {

int restore_on_all(int group_id, int member_id, const Destination& to, int time_stamp, Fenix_Data_subset* found_data) {
  return ready_entry([&]() -> int {
    Group& group = runtime().working_group(group_id);
    Member* member = group.find(member_id);
    const Found found = group.restore(member_id, choice_of(time_stamp), target_of(member, to), [&] {
      // A rank that does not know of the member is the only one that gets an error.
      if (is_known_here(group.parameters(), member_of(group, member_id))) check_destination(*member, to);
    });
    adopt_target(*member, to, found);
    return give(found, found_data);
  });
}

int restore_from_rank(int group_id, int member_id, const Destination& to, int time_stamp, Fenix_Data_subset* found_data,
                      int source_rank) {
  return ready_entry([&]() -> int {
    Group& group = runtime().working_group(group_id);
    const Member* member = group.find(member_id);
    const Found found = group.restore_from(member_id, choice_of(time_stamp), target_of(member, to), source_rank,
                                           [&] { check_destination(member_of(group, member_id), to); });
    return give(found, found_data);
  });
}

}  // namespace fenix_impl

extern "C" {

int Fenix_Data_member_restore_c(int group_id, int member_id, void* target_buffer, MPI_Count max_count, int time_stamp,
                                Fenix_Data_subset* found_data) {
  return restore_on_all(group_id, member_id, {target_buffer, max_count}, time_stamp, found_data);
}

int Fenix_Data_member_restore(int group_id, int member_id, void* target_buffer, int max_count, int time_stamp,
                              Fenix_Data_subset* found_data) {
  return restore_on_all(group_id, member_id, {target_buffer, max_count}, time_stamp, found_data);
}

int Fenix_Data_member_restore_from_rank_c(int group_id, int member_id, void* target_buffer, MPI_Count max_count,
                                          int time_stamp, Fenix_Data_subset* found_data, int source_rank) {
  return restore_from_rank(group_id, member_id, {target_buffer, max_count}, time_stamp, found_data, source_rank);
}

int Fenix_Data_member_restore_from_rank(int group_id, int member_id, void* target_buffer, int max_count, int time_stamp,
                                        Fenix_Data_subset* found_data, int source_rank) {
  return restore_from_rank(group_id, member_id, {target_buffer, max_count}, time_stamp, found_data, source_rank);
}

int Fenix_Data_member_lrestore_c(int group_id, int member_id, void* target_buffer, MPI_Count max_count, int time_stamp,
                                 Fenix_Data_subset* found_data) {
  return restore_own(group_id, member_id, {target_buffer, max_count}, time_stamp, found_data);
}

int Fenix_Data_member_lrestore(int group_id, int member_id, void* target_buffer, int max_count, int time_stamp,
                               Fenix_Data_subset* found_data) {
  return restore_own(group_id, member_id, {target_buffer, max_count}, time_stamp, found_data);
}

int Fenix_Data_member_load(int group_id, int member_id, int time_stamp, Fenix_Data_subset* found_data) {
  return restore_own(group_id, member_id, {FENIX_DATA_RESTORE_INPLACE}, time_stamp, found_data);
}

int Fenix_Data_member_load_to_c(int group_id, int member_id, void* target_buffer, MPI_Count max_count, int time_stamp,
                                Fenix_Data_subset* found_data) {
  return restore_own(group_id, member_id, {target_buffer, max_count}, time_stamp, found_data);
}

int Fenix_Data_member_load_to(int group_id, int member_id, void* target_buffer, int max_count, int time_stamp,
                              Fenix_Data_subset* found_data) {
  return restore_own(group_id, member_id, {target_buffer, max_count}, time_stamp, found_data);
}

int Fenix_Data_member_load_begin(int group_id, int member_id, FILE** file, int time_stamp,
                                 Fenix_Data_subset* found_data) {
  return ready_entry([&]() -> int {
    Group& group = runtime().attached_group(group_id);
    Member& member = closed_member_of(group, member_id);
    if (!is_known_here(group.parameters(), member)) throw Error(unknown_here(member));
    require(file, "file");
    Found found;
    *file = group.restores().open(member, choice_of(time_stamp), found);
    return give(found, found_data);
  });
}

int Fenix_data_member_load_begin(int group_id, int member_id, FILE** file, int time_stamp,
                                 Fenix_Data_subset* found_data) {
  return Fenix_Data_member_load_begin(group_id, member_id, file, time_stamp, found_data);
}

int Fenix_Data_member_load_end(int group_id, int member_id) {
  return ready_entry([&]() -> int {
    close_if_ended(group_id, member_id, FileUse::loading);
    Member& member = member_of(runtime().group(group_id), member_id);
    if (!member.is_loading_file()) {
      throw Error(FENIX_ERROR_INVALID_LOGIC_CALL, named("member_id", member_id) + " is not open for loading");
    }
    (void)member.close_file();
    return FENIX_SUCCESS;
  });
}

int Fenix_Data_member_repair(int group_id, int member_id) {
  return ready_entry([&]() -> int {
    Group& group = runtime().working_group(group_id);
    const auto found = group.verify_member(member_id, [&] { (void)closed_member_of(group, member_id); });
    if (found.lost == 0) return FENIX_SUCCESS;
    throw Error(FENIX_ERROR_NODATA_FOUND, named("member_id", member_id) + " is damaged beyond repair");
  });
}

int Fenix_Data_verify(int group_id, int* num_mended, int* num_lost) {
  return ready_entry([&]() -> int {
    Group& group = runtime().working_group(group_id);
    const auto found = group.verify_all([&] {
      for (const auto& member : group.members()) require_closed(*member);
    });
    const auto give_number = [](std::uint64_t number, int* target) {
      constexpr std::uint64_t kMost = std::numeric_limits<int>::max();
      if (target != nullptr) *target = static_cast<int>(std::min(number, kMost));
    };
    give_number(found.mended, num_mended);
    give_number(found.lost, num_lost);
    if (found.lost == 0) return FENIX_SUCCESS;
    throw Error(FENIX_ERROR_NODATA_FOUND, std::to_string(found.lost) + " versions are damaged beyond repair");
  });
}

}  // extern "C"
