// SPDX-License-Identifier: BSD-3-Clause
// A data group on this rank: members, their slots, and the log of what was committed.
//
// A group outlives the team that it works with. It is detached when a failure is repaired, and attached to the repaired team
// by recovery/groups/rejoin. Group owns the parts, and gives each call to the operation that does the work.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/member/selection.hpp"
#include "core/operations/commit.hpp"
#include "core/operations/verification.hpp"
#include "core/state/group_parts.hpp"
#include "core/steps/restore_target.hpp"
#include "core/steps/snapshot_lists.hpp"
#include "core/steps/staging.hpp"

namespace fenix_impl {

class Group {
 public:
  /// Throws an Error; in collective calls all ranks get to know it.
  using Check = std::function<void()>;

  explicit Group(const GroupParameters& parameters) : parts_(parameters) {}
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  ~Group();

  // --------------------------------------------------------------------------------------------------------------- parts

  [[nodiscard]] const GroupParameters& parameters() const { return parts_.parameters; }
  [[nodiscard]] const Members& members() const { return parts_.members; }
  [[nodiscard]] const CommitLog& log() const { return parts_.log; }
  [[nodiscard]] const GroupRanks& ranks() const { return parts_.attachment.ranks(); }
  [[nodiscard]] Attachment& attachment() { return parts_.attachment; }
  [[nodiscard]] RequestQueue& requests() { return parts_.requests; }
  [[nodiscard]] SnapshotLists& snapshots() { return snapshots_; }
  [[nodiscard]] Staging staging() { return Staging(parts_.context); }
  /// For taking the group up, which reaches into all of them.
  [[nodiscard]] GroupParts& parts() { return parts_; }

  // ------------------------------------------------------------------------------------------------------ queries, local

  [[nodiscard]] bool attached() const { return parts_.attachment.is_usable(); }
  /// Whether this rank has what it should have: a rank that takes a dead one's place lacks it until it has been rebuilt.
  [[nodiscard]] bool is_complete() const { return parts_.state != GroupState::incomplete; }
  [[nodiscard]] bool is_deleted() const { return parts_.state == GroupState::deleted; }
  /// Returns the member with an id, or null.
  [[nodiscard]] Member* find(std::int32_t member_id) const { return parts_.members.find(member_id); }

  // ---------------------------------------------------------------------------------------------- definition, collective

  Member& create_member(const MemberInfo& info, const void* buffer, std::uint64_t count, const Check& check);
  /// Creates the member where no rank has it; null if all have it. Throws Error(FENIX_ERROR_MISMATCH) if some have it.
  Member* define_member(const MemberInfo& info, const void* buffer, std::uint64_t count, const Check& check);
  /// Makes what all ranks have said of a member that there is known to those that keep it for each other.
  void take_in_definition(Member& member);
  /// Local: as Members.
  [[nodiscard]] Region buffer_for(const Member& member, const ElementType& type, std::uint64_t count) const {
    return parts_.members.buffer_for(member, type, count);
  }
  void put_buffer(Member& member, Region grown) { parts_.members.put_buffer(member, std::move(grown)); }
  /// Throws, and leaves all as it was, if data has been staged, stored or committed, or memory is short.
  void set_policy(const Policy& policy, const Check& check);
  void set_hashing(bool hashing, const Check& check);
  void set_in_place(bool in_place, const Check& check);
  /// Returns the value of another rank, which need not be the same for all.
  std::uint64_t ask_rank(int rank, std::uint64_t same_on_all, std::uint64_t mine, const Check& check);

  // ------------------------------------------------------------------------------------------------------ store, commit

  /// Collective; see Fenix_Data_member_store for when it synchronises: then all ranks get to know what check throws.
  void store(std::span<Member* const> members, const Selection& selection, const Check& check = {});
  /// Does the same before a commit of all ranks: if this rank alone fails, those that would wait for its commit get an error there.
  void store_to_commit(std::span<Member* const> members, const Selection& selection, const Check& check);
  /// Returns earlier than store(): protection goes on until the request is finished.
  std::shared_ptr<Request> store_asynchronously(std::span<Member* const> members, const Selection& selection,
                                                std::uint64_t request_id, const Check& check = {});
  /// Collective, synchronising only if all snapshots are kept, ranks encode, or the group commits in place. Returns the time stamp.
  int commit();
  /// Collective: returns when all ranks have made the latest commit of this one.
  void wait_for_commit_on_all() { commit_.wait_for_all(); }
  /// Does both; time_stamp is set as soon as the commit stands.
  void commit_on_all(int& time_stamp);

  // ----------------------------------------------------------------------------------------------------------- deletion

  /// Local: forgets what is older than depth, and asks the others first what they have.
  void clean_up();
  /// Local.
  void delete_member(Member& member);
  void delete_snapshot(const SnapshotChoice& choice);
  /// Local: drops everything, but can still take part in make_consistent().
  void mark_deleted();
  /// Collective: removes what is not on all ranks. False if the group itself is not.
  bool make_consistent();

  // ------------------------------------------------------------------------------------------------------------ restore

  /// Collective. Writes to the target when all ranks have what they need.
  Found restore(std::int32_t member_id, const SnapshotChoice& choice, const Target& target, const Check& check);
  /// Collective: what another rank, or one of the team before it shrank, has stored.
  Found restore_from(std::int32_t member_id, const SnapshotChoice& choice, const Target& target, int source,
                     const Check& check);
  /// Local.
  Found restore_own(Member& member, const SnapshotChoice& choice, const Target& target);
  /// Local: opens a file over the elements of a snapshot, to be closed by Member::close_file().
  std::FILE* open_to_load(Member& member, const SnapshotChoice& choice, Found& found);
  /// Local: closes a file of the application that has ended, by a failure or a deletion. False if there is none.
  bool close_ended_file(std::int32_t member_id, FileUse use) { return parts_.members.close_ended_file(member_id, use); }
  /// Collective: verifies all members in all snapshots, or one, with their redundancy, and mends what it can.
  Verified verify_all(const Check& check = {});
  /// Some ranks may call restore() in its place, and get their data.
  Verified verify_member(
      std::int32_t member_id, const Check& check = [] {});

  // ------------------------------------------------------------------------------------------------------- between teams

  /// Local: lets go of the team and of all that leads to peers. Commits stay.
  void detach();

 private:
  bool agree_if_needed(std::span<Member* const> members, const Selection& selection, const Check& check);
  void check_storable(std::span<Member* const> members, const Selection& selection, const Check& check);
  void begin_stores(std::span<Member* const> members, const Selection& selection, const Check& check);

  GroupParts parts_;
  SnapshotLists snapshots_{parts_.context, parts_.archive, parts_.stored};
  CommitOperation commit_{parts_.context};
};

}  // namespace fenix_impl
