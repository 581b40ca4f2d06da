// SPDX-License-Identifier: BSD-3-Clause
#include "core/group.hpp"

#include <new>
#include <optional>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "core/common/meeting.hpp"
#include "core/operations/agree_on_sizes.hpp"
#include "core/operations/deletion.hpp"
#include "core/operations/log_growth.hpp"
#include "core/operations/release.hpp"
#include "core/operations/restore_from.hpp"
#include "core/steps/restore_meeting.hpp"

namespace fenix_impl {

Group::~Group() {
  detach();
  Release(data_).forget_snapshots();
}

void Group::detach() {
  snapshots_.forget_count();
  Release(data_).detach();
}

// ---------------------------------------------------------------------------------------------------------- definition

void Group::take_in_definition(Member& member) {
  together(data_.attachment.team(), [&] { AgreeOnSizes(data_.context).take_in_definition(member); });
}

// -------------------------------------------------------------------------------------------------------------- commit

int Group::commit() {
  if (parameters().commits_in_place()) {
    int time_stamp = 0;
    commit_on_all(time_stamp);
    return time_stamp;
  }
  fault_point("commit.begin");
  snapshots_.forget_count();
  Team& team = data_.attachment.team();
  if (parameters().keeps_all()) together(team, [&] { grow_log_if_full(data_.context); });
  // With copies the ranks commit one by one: no other one waits for this one here.
  if (!data_.attachment.protection().commits_collectively()) return alone([&] { return commit_.run(); });
  return together(team, [&] { return commit_.run(); });
}

void Group::commit_on_all(int& time_stamp) {
  fault_point("commit.begin");
  snapshots_.forget_count();
  if (parameters().keeps_all()) together(data_.attachment.team(), [&] { grow_log_if_full(data_.context); });
  if (parameters().commits_in_place()) data_.reclaimer.wait_for_flush();
  try {
    time_stamp = commit_.run();
  } catch (const Error& error) {
    if (error.code() == FENIX_ERROR_NO_MEMORY) data_.attachment.withdraw();
    throw;
  } catch (const std::bad_alloc&) {
    data_.attachment.withdraw();
    throw;
  }
  wait_for_commit_on_all();
}

// ------------------------------------------------------------------------------------------------------------ deletion

void Group::clean_up() {
  data_.reclaimer.find_commits();
  data_.reclaimer.forget_old();
}

void Group::delete_member(Member& member) { Deletion(data_.context).delete_member(member); }

void Group::delete_snapshot(const SnapshotChoice& choice) {
  snapshots_.forget_count();
  Deletion(data_.context).delete_snapshot(choice);
}

void Group::mark_deleted() { Release(data_).mark_deleted(); }

bool Group::make_consistent() {
  snapshots_.forget_count();
  if (Deletion(data_.context).make_consistent(is_deleted())) return true;
  together(data_.attachment.team(), [&] { Release(data_).give_back_all(); });
  return false;
}

// ------------------------------------------------------------------------------------------------------------- restore

Found Group::restore(std::int32_t member_id, const SnapshotChoice& choice, const Target& target, const Check& check) {
  fault_point("restore.begin");
  const RestoreMeeting met =
      together(data_.attachment.team(), [&] { return meet_to_restore(data_.context, member_id, choice, check); });
  // Other ranks call verify_member().
  if (met.some_repair) (void)Verification(data_.context).run_for(member_id);
  return RestoreOperation(data_.context).run(member_id, choice, target, met);
}

Found Group::restore_from(std::int32_t member_id, const SnapshotChoice& choice, const Target& target, int source,
                          const Check& check) {
  return RestoreFrom(data_.context, data_.archive.get(), data_.store.dataset.get())
      .run(member_id, choice, target, source, check);
}

Verified Group::verify_all(const Check& check) { return Verification(data_.context).run_for_all(check); }

Verified Group::verify_member(std::int32_t member_id, const Check& check) {
  const auto no_choice = std::nullopt;
  const RestoreMeeting met =
      together(data_.attachment.team(), [&] { return meet_to_restore(data_.context, member_id, no_choice, check); });
  const Verified verified = Verification(data_.context).run_for(member_id);
  // Other ranks call restore().
  if (met.some_restore) together(data_.attachment.team(), [&] { meet_ranks_that_restore(data_.context); });
  return verified;
}

}  // namespace fenix_impl
