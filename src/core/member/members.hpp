// SPDX-License-Identifier: BSD-3-Clause
// The members of a group on this rank, in the same order on all ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "core/log/commit_log.hpp"
#include "core/member/member.hpp"

namespace fenix_impl {

class Members {
 public:
  [[nodiscard]] std::size_t size() const { return members_.size(); }
  [[nodiscard]] bool empty() const { return members_.empty(); }
  [[nodiscard]] auto begin() const { return members_.begin(); }
  [[nodiscard]] auto end() const { return members_.end(); }
  [[nodiscard]] Member& operator[](std::size_t i) const { return *members_[i]; }
  [[nodiscard]] std::span<const std::unique_ptr<Member>> all() const { return members_; }
  /// Returns the member with an id, or null.
  [[nodiscard]] Member* find(std::int32_t member_id) const;

  /// Takes the memory for one more, so that add() cannot fail.
  void reserve_one() { members_.reserve(members_.size() + 1); }
  Member& add(std::unique_ptr<Member> member);
  /// Does nothing if there is no such member.
  void drop(std::int32_t member_id);
  void clear();
  /// Puts the members in the given order, and drops those that are not named.
  void arrange(std::span<const MemberInfo> order);
  /// Learns of a member from a peer, or of its sizes.
  void adopt(const MemberInfo& info, Counts counts, std::uint32_t slots, int own_rank);

  /// Closes the files of a member that have ended, whether it still exists or not. False if there is none for that use.
  bool close_ended_file(std::int32_t member_id, FileUse use);
  void close_ended_files(std::int32_t member_id);

  /// Takes the memory for the buffer of a member that has it from the library, if it lacks some. The application may still have the
  /// buffer of one with its id that peers have forgotten: that is taken. Throws Error(FENIX_ERROR_NO_MEMORY).
  void take_buffer(Member& member);
  /// The two steps of it, for another type or count: returns the memory that the buffer lacks, and changes nothing; and puts it in its
  /// place.
  [[nodiscard]] Region buffer_for(const Member& member, const ElementType& type, std::uint64_t count) const;
  void put_buffer(Member& member, Region grown);
  /// Whether the application may still have the buffer of a member that peers have forgotten.
  [[nodiscard]] bool has_orphaned_buffer(std::int32_t member_id) const {
    return orphaned_buffers_.count(member_id) != 0;
  }
  /// Keeps the files of a member that is about to end, and its buffer: the application may be using them.
  void forget(Member& member);

  /// Whether a member was deleted here, and has not been created again.
  [[nodiscard]] bool has_deleted(std::int32_t member_id) const { return deleted_.count(member_id) != 0; }
  void note_deleted(std::int32_t member_id) { deleted_.insert(member_id); }
  void forget_deleted(std::int32_t member_id) { deleted_.erase(member_id); }

 private:
  /// A file of a member that was deleted by another rank while the application of this one had it open.
  struct OrphanedFile {
    std::int32_t member_id;
    FileUse use;
    std::unique_ptr<SlotFile> file;
  };
  void keep_file_of(Member& member);

  std::vector<std::unique_ptr<Member>> members_;
  std::vector<OrphanedFile> orphaned_files_;
  std::map<std::int32_t, MemberBuffer> orphaned_buffers_;  // of members that peers have forgotten, by id
  std::set<std::int32_t> deleted_;
};

/// Whether the application of this rank knows of a member. Without redundancy, one that has taken a dead rank's place does not before
/// it creates the member, as in the current Fenix.
[[nodiscard]] inline bool is_known_here(const GroupParameters& parameters, const Member& member) {
  return member.is_claimed() || parameters.policy.has_redundancy();
}
/// Returns Error(FENIX_ERROR_INVALID_MEMBERID) for a member that it does not know of.
[[nodiscard]] Error unknown_here(const Member& member);

/// Returns the version of a member in the latest snapshot of this rank, or null.
[[nodiscard]] const MemberVersion* latest_version(const CommitLog& log, const Member& member);
/// Whether something of the member is in a snapshot, or in the one under construction.
[[nodiscard]] bool has_data_of(const CommitLog& log, const Member& member);
/// Returns the elements of a member in the latest snapshot of this rank; of one whose size cannot change, its count.
[[nodiscard]] std::uint64_t size_of(const CommitLog& log, const Member& member);
/// Returns the version of a member in the snapshot of an epoch, or null.
[[nodiscard]] const MemberVersion* version_at(const CommitLog& log, const Member& member, Epoch epoch);

}  // namespace fenix_impl
