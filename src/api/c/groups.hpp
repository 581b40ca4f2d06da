// SPDX-License-Identifier: BSD-3-Clause
// Helpers that the files of the data interface share.
#pragma once

#include <cstddef>
#include <string>

#include "core/group.hpp"
#include "runtime/entry.hpp"

namespace fenix_impl {

/// Makes the text "name value" for messages of errors.
inline std::string named(const char* name, long long value) { return std::string(name) + " " + std::to_string(value); }

/// Finds a member. Throws Error(FENIX_ERROR_INVALID_MEMBERID) if there is none.
inline Member& member_of(const Group& group, int member_id) {
  Member* member = group.find(member_id);
  if (member == nullptr)
    throw Error(FENIX_ERROR_INVALID_MEMBERID, named("member_id", member_id) + " is not in the group");
  return *member;
}

/// Throws Error(FENIX_ERROR_MEMBER_STAGING or _LOADING) if the application has a file open on the member.
inline void require_closed(const Member& member) {
  if (member.is_loading_file()) {
    throw Error(FENIX_ERROR_MEMBER_LOADING,
                named("member_id", member.id()) + " is open: Fenix_Data_member_load_end first");
  }
  if (member.is_staging_file()) {
    throw Error(FENIX_ERROR_MEMBER_STAGING,
                named("member_id", member.id()) + " is open: Fenix_Data_member_stage_end first");
  }
}

/// Throws Error(FENIX_ERROR_CANCELLED), and closes the file, if it has ended while the application had it open.
inline void close_if_ended(int group_id, int member_id, FileUse use) {
  Group& group = runtime().group(group_id);
  if (!group.members().close_ended_file(member_id, use)) return;
  throw Error(FENIX_ERROR_CANCELLED,
              "a failure, or a deletion, has ended the file of " + named("member_id", member_id));
}

/// Finds a member that has no open file, as member_of() and require_closed().
inline Member& closed_member_of(const Group& group, int member_id) {
  Member& member = member_of(group, member_id);
  require_closed(member);
  return member;
}

/// Converts a position in a list. Throws Error(FENIX_ERROR_INVALID_POSITION) if it is outside.
inline std::size_t index_of(int position, std::size_t number, const char* entries) {
  if (position < 0 || static_cast<std::size_t>(position) >= number) {
    throw Error(FENIX_ERROR_INVALID_POSITION,
                named("position", position) + " is not in [0, number of " + entries + ")");
  }
  return static_cast<std::size_t>(position);
}

/// Converts a time_stamp argument into the choice of a snapshot.
inline SnapshotChoice choice_of(int time_stamp) {
  if (time_stamp == FENIX_DATA_SNAPSHOT_LATEST) return {SnapshotChoice::Kind::latest, 0};
  if (time_stamp == FENIX_DATA_SNAPSHOT_ALL) return {SnapshotChoice::Kind::all, 0};
  return {SnapshotChoice::Kind::at, time_stamp};
}

}  // namespace fenix_impl
