// SPDX-License-Identifier: BSD-3-Clause
// A data group on this rank: members, their slots, and the log of what was committed.
//
// A group outlives the team that it works with. It is detached when a failure is repaired, and attached to the repaired team
// by recovery/groups/rejoin. Group owns the data, and gives each call to the operation that does the work.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/group_recovery.hpp"
#include "core/group_stores.hpp"
#include "core/member/selection.hpp"
#include "core/operations/commit.hpp"
#include "core/operations/definition.hpp"
#include "core/operations/policy_change.hpp"
#include "core/operations/restore.hpp"
#include "core/operations/verification.hpp"
#include "core/state/group_data.hpp"
#include "core/steps/restore_target.hpp"
#include "core/steps/snapshot_lists.hpp"
#include "core/steps/staging.hpp"
#include "core/store_link.hpp"

namespace fenix_impl {

class Group {
 public:
  /// Throws an Error; in collective calls all ranks get to know it.
  using Check = std::function<void()>;

  explicit Group(const GroupParameters& parameters) : data_(parameters) {}
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  ~Group();

  // ---------------------------------------------------------------------------------------------------------------- data

  [[nodiscard]] const GroupParameters& parameters() const { return data_.parameters; }
  [[nodiscard]] Members& members() { return data_.members; }
  [[nodiscard]] const Members& members() const { return data_.members; }
  [[nodiscard]] const CommitLog& log() const { return data_.log; }
  [[nodiscard]] const GroupRanks& ranks() const { return data_.attachment.ranks(); }
  [[nodiscard]] Attachment& attachment() { return data_.attachment; }
  [[nodiscard]] RequestQueue& requests() { return data_.requests; }
  [[nodiscard]] SnapshotLists& snapshots() { return snapshots_; }
  [[nodiscard]] Staging staging() { return Staging(data_.context); }

  // ------------------------------------------------------------------------------------------------------ queries, local

  [[nodiscard]] bool attached() const { return data_.attachment.is_usable(); }
  /// Whether this rank has what it should have: a rank that takes a dead one's place lacks it until it has been rebuilt.
  [[nodiscard]] bool is_complete() const { return data_.state != GroupState::incomplete; }
  [[nodiscard]] bool is_deleted() const { return data_.state == GroupState::deleted; }
  /// Returns the member with an id, or null.
  [[nodiscard]] Member* find(std::int32_t member_id) const { return data_.members.find(member_id); }

  // ---------------------------------------------------------------------------------------------------------- operations

  [[nodiscard]] Definition definition() { return Definition(data_.context); }
  [[nodiscard]] PolicyChange policy_change() { return {data_.context, data_.parameters}; }
  [[nodiscard]] GroupStores stores() { return {data_.context, commit_}; }
  /// For local restores: restore() and restore_from() are collective.
  [[nodiscard]] RestoreOperation restores() { return RestoreOperation(data_.context); }
  /// Collective, for a member that exists: gives its definition on each rank to the partners and witnesses of that rank.
  void take_in_definition(Member& member);

  // ------------------------------------------------------------------------------------------------------------- commit

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
  /// Collective: verifies all members in all snapshots, or one, with their redundancy, and mends what it can.
  Verified verify_all(const Check& check = {});
  /// Some ranks may call restore() in its place, and get their data.
  Verified verify_member(
      std::int32_t member_id, const Check& check = [] {});

  // ------------------------------------------------------------------------------------------------------- between teams

  /// Local: gives up the team and all that leads to peers. Commits stay.
  void detach();
  [[nodiscard]] GroupRecovery recovery() { return GroupRecovery(data_); }
  [[nodiscard]] StoreLink store_link() { return StoreLink(data_); }

 private:
  GroupData data_;
  SnapshotLists snapshots_{data_.context, data_.archive, data_.store.dataset};
  CommitOperation commit_{data_.context};
};

}  // namespace fenix_impl
