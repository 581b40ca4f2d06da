// SPDX-License-Identifier: BSD-3-Clause
// How the simulated program takes its groups up, and looks whether what it finds is right.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "program_state.hpp"

namespace fenix_simulation::program {
namespace {

struct PolicyValues {
  int name = 0;
  std::array<int, 3> values{};
};

PolicyValues values_of(const GroupPlan& group) {
  const int separation = group.separation < ranks ? group.separation : ranks - 1;
  const int size = group.size < ranks ? group.size : ranks;
  switch (group.policy) {
    case Policy::buddies:
      return {FENIX_DATA_POLICY_IN_MEMORY_RAID, {1, separation}};
    case Policy::ring:
      return {FENIX_DATA_POLICY_PEER_RANK_SEPARATION, {separation}};
    case Policy::exclusive_or:
      return {FENIX_DATA_POLICY_IN_MEMORY_RAID, {5, separation, size}};
    case Policy::local:
      return {FENIX_DATA_POLICY_LOCAL, {}};
    case Policy::reed_solomon:
      return {FENIX_DATA_POLICY_REED_SOLOMON, {separation, size, group.losses < size ? group.losses : size - 1}};
  }
  return {};
}

void create_group(int group) {
  PolicyValues policy = values_of(plan_of(group));
  int flag = 1;
  const int code = told(Fenix_Data_group_create(kFirstGroup + group, comm, 0, plan_of(group).depth, policy.name,
                                                ranks > 1 ? policy.values.data() : nullptr, &flag),
                        "Fenix_Data_group_create");
  // A program that cannot know what there is must not begin anew.
  if (plan().has_store() && !stored(code, "Fenix_Data_group_create")) judge_gives_up();
  success(code, "Fenix_Data_group_create");
  judge_created(group, flag);
  success(Fenix_Data_group_set_hashing(kFirstGroup + group, plan_of(group).hashing ? 1 : 0), "set_hashing");
  if (plan_of(group).in_place) {
    int in_place = 0;
    success(Fenix_Data_group_get_in_place(kFirstGroup + group, &in_place), "get_in_place");
    if (in_place == 0) success(Fenix_Data_group_set_in_place(kFirstGroup + group, 1), "set_in_place");
  }
}

/// Ends the schedule if a call says that the store does not answer, and may say so.
int usable(int code, const char* call) {
  if (plan().has_store() && code == FENIX_ERROR_STORE) {
    (void)stored(code, call);
    judge_gives_up();
  }
  return code;
}

void define_members(int group) {
  const auto& members = plan_of(group).members;
  GroupState& now = state_of(group);
  now.buffers.clear();
  for (std::size_t i = 0; i < members.size(); ++i) {
    now.buffers.push_back(room_for(members[i], rank));
    const int code = Fenix_Data_member_define(kFirstGroup + group, static_cast<int>(i), now.buffers[i].data(),
                                              members[i].count_on(rank), type_of(members[i]));
    // Members keep the counts of the old numbers if ranks become as many as those of the dataset that is taken.
    if (code == FENIX_ERROR_INVALID_LOGIC_CALL && plan().has_store() && ranks < plan().ranks_of(judge_job()))
      judge_gives_up();
    success(code, "Fenix_Data_member_define");
  }
  success(Fenix_Data_member_define(kFirstGroup + group, kRecordMember, &now.record, kRecordNumbers, MPI_INT64_T),
          "define the record");
}

/// Returns false if there is nothing.
bool restore_record(int group, int stamp, Record& record) {
  record = {};
  const int code = usable(
      told(Fenix_Data_member_restore(kFirstGroup + group, kRecordMember, &record, kRecordNumbers, stamp, nullptr),
           "member_restore"),
      "member_restore");
  if (code == FENIX_ERROR_NODATA_FOUND) return false;
  require(code == FENIX_SUCCESS, "P3", "restore of the record", code);
  require(record.ranks == ranks, "P2", "the record is of another number of ranks", record.ranks);
  return true;
}

/// Reads a member as read(buffer) does, and compares it. Returns false if it is not to be had.
template <class Read>
bool check_member(int group, int member, int owner, const Record& record, Read&& read) {
  const MemberPlan& what = plan_of(group).members[static_cast<std::size_t>(member)];
  auto got = room_for(what, owner);
  auto wanted = got;
  const int step = static_cast<int>(record.step);
  for (int i = 0; i < what.count_on(owner); ++i) {
    write(wanted, what, i, value_of(plan(), group, member, owner, record.contents(), i));
  }
  const int code = usable(told(read(got.data(), what.count_on(owner)), "restore of a member"), "restore of a member");
  if (code == FENIX_ERROR_NODATA_FOUND) {
    judge_lost(group, member, step, record.ranks != ranks ? 1 : 0);
    return false;
  }
  require(code == FENIX_SUCCESS, "P3", "restore of a member", code, member);
  if (got == wanted) return true;
  std::size_t at = 0;
  while (got[at] == wanted[at]) ++at;
  judge_broken("P2", "rank %d: member %d of rank %d in group %d at step %d differs from byte %zu of %zu", rank, member,
               owner, group, step, at, got.size());
}

bool check_members(int group, int stamp, const Record& record) {
  bool all = true;
  for (int member = 0; member < static_cast<int>(plan_of(group).members.size()); ++member) {
    all = check_member(group, member, rank, record,
                       [&](void* to, int count) {
                         return Fenix_Data_member_restore(kFirstGroup + group, member, to, count, stamp, nullptr);
                       }) &&
          all;
  }
  return all;
}

/// The communicator has shrunk: snapshots can be read by the old numbers. All ranks read those of all.
void read_old(int group) {
  Record record;
  int snapshots = 0;
  success(Fenix_Data_group_get_number_of_snapshots(kFirstGroup + group, &snapshots), "number_of_snapshots");
  const int code =
      snapshots == 0 ? FENIX_ERROR_NODATA_FOUND
                     : told(Fenix_Data_member_restore_from_rank(kFirstGroup + group, kRecordMember, &record,
                                                                kRecordNumbers, FENIX_DATA_SNAPSHOT_LATEST, nullptr, 0),
                            "restore_from_rank");
  if (code == FENIX_ERROR_NODATA_FOUND) {
    judge_read_old(group, -1, 0);
    return;
  }
  require(usable(code, "restore_from_rank") == FENIX_SUCCESS, "P3", "restore_from_rank of the record", code);
  require(record.ranks > ranks || plan().has_store(), "P2", "an old record is not of more ranks", record.ranks, ranks);
  judge_read_old(group, static_cast<int>(record.step), record.attempt());
  const int old_ranks = static_cast<int>(record.ranks);
  for (int shift = 0; shift < old_ranks; ++shift) {
    const int source = (rank + shift) % old_ranks;
    for (int member = 0; member < static_cast<int>(plan_of(group).members.size()); ++member) {
      (void)check_member(group, member, source, record, [&](void* to, int count) {
        return Fenix_Data_member_restore_from_rank(kFirstGroup + group, member, to, count, FENIX_DATA_SNAPSHOT_LATEST,
                                                   nullptr, source);
      });
    }
  }
}

void list_snapshots(int group) {
  auto& snapshots = state_of(group).snapshots;
  snapshots.clear();
  if (plan().deletions_of == 0) return;
  int number = 0;
  success(Fenix_Data_group_get_number_of_snapshots(kFirstGroup + group, &number), "number_of_snapshots");
  for (int position = 0; position < number; ++position) {
    Snapshot snapshot;
    Record record;
    success(Fenix_Data_group_get_snapshot_at_position(kFirstGroup + group, position, &snapshot.stamp),
            "snapshot_at_position");
    if (restore_record(group, snapshot.stamp, record)) {
      snapshot.step = static_cast<int>(record.step);
    } else {
      judge_lost(group, kRecordMember, position, 0);
    }
    snapshots.push_back(snapshot);
  }
}

/// Without redundancy a replacement may have nothing. All others have the latest step of all.
void restore_local(int group) {
  GroupState& now = state_of(group);
  Record record;
  const bool has = restore_record(group, FENIX_DATA_SNAPSHOT_LATEST, record);
  const std::int64_t mine[2] = {has ? record.step : -1, has ? 0 : 1};
  std::int64_t all[2] = {-1, 0};
  mpi(MPI_Allreduce(mine, all, 2, MPI_INT64_T, MPI_MAX, comm), "MPI_Allreduce");
  if (has) {
    require(record.step == all[0] && check_members(group, FENIX_DATA_SNAPSHOT_LATEST, record), "P2",
            "ranks have other steps", record.step, all[0]);
  } else if (all[0] >= 0) {
    // A restore is collective.
    for (std::size_t member = 0; member < plan_of(group).members.size(); ++member) {
      const MemberPlan& what = plan_of(group).members[member];
      auto room = room_for(what, rank);
      const int code = told(Fenix_Data_member_restore(kFirstGroup + group, static_cast<int>(member), room.data(),
                                                      what.count_on(rank), FENIX_DATA_SNAPSHOT_LATEST, nullptr),
                            "member_restore");
      require(code == FENIX_ERROR_NODATA_FOUND, "P3", "a rank without data restores some", code);
    }
  }
  if (plan().has_store() && !has && all[0] >= 0) judge_bare(group, static_cast<int>(all[0]));
  if (plan().has_store() && all[0] < 0 && ranks == plan().ranks_of(judge_job())) read_old(group);
  now.next = static_cast<int>(all[0]) + 1;
  // All store everything anew where one has nothing.
  now.base = all[1] != 0 ? now.next : static_cast<int>(record.base);
  now.attempts = record.attempts;
  judge_restored(group, has ? static_cast<int>(record.step) : -1, record.attempt());
}

void restore_group(int group) {
  GroupState& now = state_of(group);
  if (plan_of(group).policy == Policy::local) {
    restore_local(group);
    return;
  }
  Record record;
  if (restore_record(group, FENIX_DATA_SNAPSHOT_LATEST, record) &&
      check_members(group, FENIX_DATA_SNAPSHOT_LATEST, record)) {
    now.next = static_cast<int>(record.step) + 1;
    now.base = static_cast<int>(record.base);
    now.attempts = record.attempts;
    judge_restored(group, static_cast<int>(record.step), record.attempt());
    list_snapshots(group);
    return;
  }
  if (ranks < plan().ranks || plan().has_store()) read_old(group);
  now.snapshots.clear();
  now.next = now.base = 0;
  judge_restored(group, -1, 0);
}

/// All ranks have the same.
void agree() {
  std::vector<std::int64_t> mine;
  for (int number = 0; number < group_count(); ++number) {
    GroupState& group = state_of(number);
    // Without redundancy a rank may have nothing to tell.
    const bool is_known = group.next > 0 && plan_of(number).policy != Policy::local;
    const std::int64_t attempt = is_known ? attempt_of(group.attempts, group.next - 1) : 0;
    for (const std::int64_t each : {std::int64_t{group.next}, std::int64_t{group.base}, attempt})
      mine.insert(mine.end(), {each, -each});
    mine.push_back(group.attempt);
  }
  std::vector<std::int64_t> most(mine.size());
  mpi(MPI_Allreduce(mine.data(), most.data(), static_cast<int>(mine.size()), MPI_INT64_T, MPI_MAX, comm),
      "MPI_Allreduce");
  constexpr std::size_t kNumbers = 7;  // of a group
  for (std::size_t i = 0; i < mine.size(); ++i) {
    if (i % kNumbers == kNumbers - 1) {
      groups[i / kNumbers].attempt = most[i] + 1;
    } else if (i % kNumbers % 2 == 0) {
      require(most[i] == -most[i + 1], "P2", "ranks have restored different steps", most[i], -most[i + 1]);
    }
  }
  for (int group = 0; group < group_count(); ++group) judge_agreed(group, state_of(group).next - 1);
}

void verify(int group) {
  int mended = 0;
  int lost = 0;
  const int code = told(Fenix_Data_verify(kFirstGroup + group, &mended, &lost), "Fenix_Data_verify");
  require(code == FENIX_SUCCESS && lost == 0, "P5", "verify finds losses", lost, code);
}

}  // namespace

void note_snapshot(int group, Snapshot snapshot) {
  auto& snapshots = state_of(group).snapshots;
  if (plan().deletions_of == 0) return;
  snapshots.insert(snapshots.begin(), snapshot);
  const int depth = plan_of(group).depth;
  if (depth >= 0 && snapshots.size() > static_cast<std::size_t>(depth) + 1) snapshots.pop_back();
}

void inspect(int group, int step) {
  const auto inspection =
      dice(plan(), Purpose::inspection, static_cast<std::uint64_t>(group), static_cast<std::uint64_t>(step));
  if (!once_in(plan().inspected_of, inspection)) return;
  Record record;
  if (!restore_record(group, FENIX_DATA_SNAPSHOT_LATEST, record)) {
    judge_lost(group, kRecordMember, step, 0);
    return;
  }
  require(record.step == step, "P1", "another step is there than was committed", record.step, step);
  (void)check_members(group, FENIX_DATA_SNAPSHOT_LATEST, record);
  // A snapshot that has gone stays away. There is a list only where snapshots are deleted.
  const auto& listed = state_of(group).snapshots;
  if (listed.empty() || listed.back().stamp == 0) return;
  Record gone;
  require(!restore_record(group, listed.back().stamp - 1, gone), "P1", "a snapshot that has gone is there again",
          gone.step, listed.back().stamp);
}

void restore_fetched(int group, int wanted) {
  restore_group(group);
  const GroupState& now = state_of(group);
  const int step = now.next - 1;
  // A dataset of another number of ranks was read as an old one.
  if (step >= 0) judge_fetched(group, wanted, step, attempt_of(state_of(group).attempts, step));
  agree();
}

void take_up() {
  groups.resize(plan().groups.size());
  // Nothing that a job stores is what another one has stored.
  constexpr std::int64_t kAttemptsOfJob = 1000;
  for (GroupState& group : groups) group.attempt = std::max(group.attempt, kAttemptsOfJob * judge_job());
  for (int group = 0; group < group_count(); ++group) create_group(group);
  for (int group = 0; group < group_count(); ++group) define_members(group);
  for (int group = 0; group < group_count(); ++group) restore_group(group);
  agree();
  if (!once_in(plan().verified_of, dice(plan(), Purpose::verify, static_cast<std::uint64_t>(state_of(0).next)))) return;
  for (int group = 0; group < group_count(); ++group) verify(group);
}

}  // namespace fenix_simulation::program
