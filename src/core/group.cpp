// SPDX-License-Identifier: BSD-3-Clause
#include "core/group.hpp"

#include <new>
#include <optional>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "core/common/meeting.hpp"
#include "core/operations/agree_on_sizes.hpp"
#include "core/operations/definition.hpp"
#include "core/operations/deletion.hpp"
#include "core/operations/log_growth.hpp"
#include "core/operations/policy_change.hpp"
#include "core/operations/restore.hpp"
#include "core/operations/restore_from.hpp"
#include "core/operations/store.hpp"
#include "core/operations/taking_up.hpp"
#include "core/steps/restore_meeting.hpp"

namespace fenix_impl {

Group::~Group() {
  detach();
  TakingUp(parts_).forget_snapshots();
}

void Group::detach() {
  snapshots_.forget_count();
  TakingUp(parts_).detach();
}

// ---------------------------------------------------------------------------------------------------------- definition

Member& Group::create_member(const MemberInfo& info, const void* buffer, std::uint64_t count, const Check& check) {
  return Definition(parts_.context).create_member(info, buffer, count, check);
}

Member* Group::define_member(const MemberInfo& info, const void* buffer, std::uint64_t count, const Check& check) {
  return Definition(parts_.context).define_member(info, buffer, count, check);
}

void Group::take_in_definition(Member& member) {
  together(parts_.attachment.team(), [&] { AgreeOnSizes(parts_.context).take_in_definition(member); });
}

void Group::set_policy(const Policy& policy, const Check& check) {
  PolicyChange(parts_.context, parts_.parameters).set_policy(policy, check);
}

void Group::set_hashing(bool hashing, const Check& check) {
  PolicyChange(parts_.context, parts_.parameters).set_hashing(hashing, check);
}

void Group::set_in_place(bool in_place, const Check& check) {
  PolicyChange(parts_.context, parts_.parameters).set_in_place(in_place, check);
}

std::uint64_t Group::ask_rank(int rank, std::uint64_t same_on_all, std::uint64_t mine, const Check& check) {
  return Definition(parts_.context).ask_rank(rank, same_on_all, mine, check);
}

// ------------------------------------------------------------------------------------------------------- store, commit

// Meets with all ranks if sizes have to be agreed on. The meeting checks, too.
bool Group::agree_if_needed(std::span<Member* const> members, const Selection& selection, const Check& check) {
  fault_point("store.begin");
  AgreeOnSizes agreement(parts_.context);
  if (!agreement.is_needed(members)) return false;
  together(parts_.attachment.team(), [&] { agreement.run(members, selection, check); });
  return true;
}

void Group::check_storable(std::span<Member* const> members, const Selection& selection, const Check& check) {
  if (check) check();
  for (const Member* member : members) staging().check_storable(*member, selection);
}

void Group::begin_stores(std::span<Member* const> members, const Selection& selection, const Check& check) {
  if (!agree_if_needed(members, selection, check)) alone([&] { check_storable(members, selection, check); });
}

void Group::store(std::span<Member* const> members, const Selection& selection, const Check& check) {
  begin_stores(members, selection, check);
  alone([&] { StoreOperation(parts_.context).run(members, selection); });
}

void Group::store_to_commit(std::span<Member* const> members, const Selection& selection, const Check& check) {
  const bool agreed = agree_if_needed(members, selection, check);
  const auto store_alone = [&] {
    if (!agreed) check_storable(members, selection, check);
    StoreOperation(parts_.context).run(members, selection);
  };
  const auto store = [&] { alone(store_alone); };
  if (parameters().keeps_all()) {
    run_before_growth(parts_.context, store);
  } else {
    commit_.run_before(store);
  }
}

std::shared_ptr<Request> Group::store_asynchronously(std::span<Member* const> members, const Selection& selection,
                                                     std::uint64_t request_id, const Check& check) {
  begin_stores(members, selection, check);
  try {
    return alone([&] { return StoreOperation(parts_.context).begin(members, selection, request_id); });
  } catch (const MpiError&) {
    throw;
  } catch (const Error& error) {
    // The cohort's threads wait for this rank's.
    const bool others_wait = parts_.attachment.protection().commits_collectively();
    if (!others_wait || error.code() == FENIX_ERROR_TIMEOUT) throw;
    if (error.code() == FENIX_ERROR_NO_MEMORY) {
      parts_.attachment.withdraw();
    } else {
      commit_.decline();
    }
    throw;
  }
}

int Group::commit() {
  if (parameters().commits_in_place()) {
    int time_stamp = 0;
    commit_on_all(time_stamp);
    return time_stamp;
  }
  fault_point("commit.begin");
  snapshots_.forget_count();
  Team& team = parts_.attachment.team();
  if (parameters().keeps_all()) together(team, [&] { grow_log_if_full(parts_.context); });
  // With copies the ranks commit one by one: no other one waits for this one here.
  if (!parts_.attachment.protection().commits_collectively()) return alone([&] { return commit_.run(); });
  return together(team, [&] { return commit_.run(); });
}

void Group::commit_on_all(int& time_stamp) {
  fault_point("commit.begin");
  snapshots_.forget_count();
  if (parameters().keeps_all()) together(parts_.attachment.team(), [&] { grow_log_if_full(parts_.context); });
  if (parameters().commits_in_place()) parts_.reclaimer.wait_for_flush();
  try {
    time_stamp = commit_.run();
  } catch (const Error& error) {
    if (error.code() == FENIX_ERROR_NO_MEMORY) parts_.attachment.withdraw();
    throw;
  } catch (const std::bad_alloc&) {
    parts_.attachment.withdraw();
    throw;
  }
  wait_for_commit_on_all();
}

// ------------------------------------------------------------------------------------------------------------ deletion

void Group::clean_up() {
  parts_.reclaimer.find_commits();
  parts_.reclaimer.forget_old();
}

void Group::delete_member(Member& member) { Deletion(parts_.context).delete_member(member); }

void Group::delete_snapshot(const SnapshotChoice& choice) {
  snapshots_.forget_count();
  Deletion(parts_.context).delete_snapshot(choice);
}

void Group::mark_deleted() { TakingUp(parts_).mark_deleted(); }

bool Group::make_consistent() {
  snapshots_.forget_count();
  if (Deletion(parts_.context).make_consistent(is_deleted())) return true;
  together(parts_.attachment.team(), [&] { TakingUp(parts_).give_back_all(); });
  return false;
}

// ------------------------------------------------------------------------------------------------------------- restore

Found Group::restore(std::int32_t member_id, const SnapshotChoice& choice, const Target& target, const Check& check) {
  fault_point("restore.begin");
  const RestoreMeeting met =
      together(parts_.attachment.team(), [&] { return meet_to_restore(parts_.context, member_id, choice, check); });
  // Other ranks call verify_member().
  if (met.some_repair) (void)Verification(parts_.context).run_for(member_id);
  return RestoreOperation(parts_.context).run(member_id, choice, target, met);
}

Found Group::restore_from(std::int32_t member_id, const SnapshotChoice& choice, const Target& target, int source,
                          const Check& check) {
  return RestoreFrom(parts_.context, parts_.archive.get(), parts_.stored.get())
      .run(member_id, choice, target, source, check);
}

Found Group::restore_own(Member& member, const SnapshotChoice& choice, const Target& target) {
  return RestoreOperation(parts_.context).run_alone(member, choice, target);
}

std::FILE* Group::open_to_load(Member& member, const SnapshotChoice& choice, Found& found) {
  return RestoreOperation(parts_.context).open(member, choice, found);
}

Verified Group::verify_all(const Check& check) { return Verification(parts_.context).run_for_all(check); }

Verified Group::verify_member(std::int32_t member_id, const Check& check) {
  const auto no_choice = std::nullopt;
  const RestoreMeeting met =
      together(parts_.attachment.team(), [&] { return meet_to_restore(parts_.context, member_id, no_choice, check); });
  const Verified verified = Verification(parts_.context).run_for(member_id);
  // Other ranks call restore().
  if (met.some_restore) together(parts_.attachment.team(), [&] { meet_ranks_that_restore(parts_.context); });
  return verified;
}

}  // namespace fenix_impl
