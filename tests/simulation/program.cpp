// SPDX-License-Identifier: BSD-3-Clause
// The program that all simulated processes run. It is linked with the library, and calls what programs call. All it keeps is
// static: the data of a process.
#include <fenix.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "judge.hpp"

namespace {

using namespace fenix_simulation;

constexpr int kFirstGroup = 7;
constexpr int kRecordMember = 90;
constexpr int kTail = 3;  // elements behind a member, which a restore must not touch
constexpr std::uint8_t kPattern = 0xc7;

/// The first member of each group, which says what the others are.
struct Record {
  std::int64_t step = -1;
  std::int64_t base = 0;
  std::int64_t ranks = 0;
};

struct Snapshot {
  int stamp = -1;
  int step = -1;
};

struct GroupState {
  int next = 0;  ///< step
  int base = 0;
  std::vector<Snapshot> snapshots;  ///< of this rank, newest first: only where some are deleted
  Record record;
  std::vector<std::vector<std::byte>> buffers;
};

MPI_Comm comm;
int role;
int error;
int rank;
int ranks;
std::vector<GroupState> groups;

const Workload& plan() { return *judge_plan(); }
const GroupPlan& plan_of(int group) { return plan().groups[static_cast<std::size_t>(group)]; }
GroupState& state_of(int group) { return groups[static_cast<std::size_t>(group)]; }
int group_count() { return static_cast<int>(plan().groups.size()); }

void require(bool holds, const char* promise, const char* what, long a = 0, long b = 0) {
  if (!holds) judge_broken(promise, "rank %d: %s (%ld, %ld): %s", rank, what, a, b, Fenix_Error_message());
}

/// Returns the code of a call. Where a rank is silent, the application gives up.
int told(int code, const char* call) {
  if (code == FENIX_ERROR_TIMEOUT) judge_waited(call);
  return code;
}

void success(int code, const char* call) { require(told(code, call) == FENIX_SUCCESS, "P1", call, code); }

void mpi(int code, const char* call) { require(code == MPI_SUCCESS, "P4", call, code); }

// ------------------------------------------------------------------------------------------------------------------ contents

std::size_t bytes_of(const MemberPlan& member) { return member.bytes ? 1 : sizeof(std::uint32_t); }

MPI_Datatype type_of(const MemberPlan& member) { return member.bytes ? MPI_BYTE : MPI_INT; }

void write(std::vector<std::byte>& buffer, const MemberPlan& member, int element, std::uint32_t value) {
  const std::size_t bytes = bytes_of(member);
  std::memcpy(&buffer[static_cast<std::size_t>(element) * bytes], &value, bytes);
}

std::vector<std::byte> room_for(const MemberPlan& member, int owner) {
  const auto elements = static_cast<std::size_t>(member.count_on(owner) + kTail);
  return std::vector<std::byte>(elements * bytes_of(member), std::byte{kPattern});
}

// ---------------------------------------------------------------------------------------------------- groups, after a repair

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
  success(Fenix_Data_group_create(kFirstGroup + group, comm, 0, plan_of(group).depth, policy.name,
                                  ranks > 1 ? policy.values.data() : nullptr, &flag),
          "Fenix_Data_group_create");
  judge_created(group, flag);
  success(Fenix_Data_group_set_hashing(kFirstGroup + group, plan_of(group).hashing ? 1 : 0), "set_hashing");
  if (plan_of(group).in_place) {
    int in_place = 0;
    success(Fenix_Data_group_get_in_place(kFirstGroup + group, &in_place), "get_in_place");
    if (in_place == 0) success(Fenix_Data_group_set_in_place(kFirstGroup + group, 1), "set_in_place");
  }
}

void define_members(int group) {
  const auto& members = plan_of(group).members;
  GroupState& now = state_of(group);
  now.buffers.clear();
  for (std::size_t i = 0; i < members.size(); ++i) {
    now.buffers.push_back(room_for(members[i], rank));
    success(Fenix_Data_member_define(kFirstGroup + group, static_cast<int>(i), now.buffers[i].data(),
                                     members[i].count_on(rank), type_of(members[i])),
            "Fenix_Data_member_define");
  }
  success(Fenix_Data_member_define(kFirstGroup + group, kRecordMember, &now.record, 3, MPI_INT64_T),
          "define the record");
}

/// Returns false if there is nothing.
bool restore_record(int group, int stamp, Record& record) {
  record = {};
  const int code =
      told(Fenix_Data_member_restore(kFirstGroup + group, kRecordMember, &record, 3, stamp, nullptr), "member_restore");
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
    write(wanted, what, i, value_of(plan(), group, member, owner, step, static_cast<int>(record.base), i));
  }
  const int code = told(read(got.data(), what.count_on(owner)), "restore of a member");
  if (code == FENIX_ERROR_NODATA_FOUND) {
    judge_lost(group, member, step, record.ranks > ranks ? 1 : 0);
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
  const int code = snapshots == 0
                       ? FENIX_ERROR_NODATA_FOUND
                       : told(Fenix_Data_member_restore_from_rank(kFirstGroup + group, kRecordMember, &record, 3,
                                                                  FENIX_DATA_SNAPSHOT_LATEST, nullptr, 0),
                              "restore_from_rank");
  if (code == FENIX_ERROR_NODATA_FOUND) {
    judge_read_old(group, -1);
    return;
  }
  require(code == FENIX_SUCCESS, "P3", "restore_from_rank of the record", code);
  require(record.ranks > ranks, "P2", "an old record is not of more ranks", record.ranks, ranks);
  judge_read_old(group, static_cast<int>(record.step));
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

void note_snapshot(int group, Snapshot snapshot) {
  auto& snapshots = state_of(group).snapshots;
  if (plan().deletions_of == 0) return;
  snapshots.insert(snapshots.begin(), snapshot);
  const int depth = plan_of(group).depth;
  if (depth >= 0 && snapshots.size() > static_cast<std::size_t>(depth) + 1) snapshots.pop_back();
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
  now.next = static_cast<int>(all[0]) + 1;
  // All store everything anew where one has nothing.
  now.base = all[1] != 0 ? now.next : static_cast<int>(record.base);
  judge_restored(group, has ? static_cast<int>(record.step) : -1, now.base);
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
    judge_restored(group, static_cast<int>(record.step), now.base);
    list_snapshots(group);
    return;
  }
  if (ranks < plan().ranks) read_old(group);
  now.snapshots.clear();
  now.next = now.base = 0;
  judge_restored(group, -1, 0);
}

/// After a commit of this rank: all others make it, too.
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
  // What has gone stays away. There is a list only where snapshots are deleted.
  const auto& listed = state_of(group).snapshots;
  if (listed.empty() || listed.back().stamp == 0) return;
  Record gone;
  require(!restore_record(group, listed.back().stamp - 1, gone), "P1", "a snapshot that has gone is there again",
          gone.step, listed.back().stamp);
}

/// All ranks have the same.
void agree() {
  std::vector<std::int64_t> mine;
  for (const GroupState& group : groups) mine.insert(mine.end(), {group.next, -group.next, group.base, -group.base});
  std::vector<std::int64_t> most(mine.size());
  mpi(MPI_Allreduce(mine.data(), most.data(), static_cast<int>(mine.size()), MPI_INT64_T, MPI_MAX, comm),
      "MPI_Allreduce");
  for (std::size_t i = 0; i < mine.size(); i += 2) {
    require(most[i] == -most[i + 1], "P2", "ranks have restored different steps", most[i], -most[i + 1]);
  }
  for (int group = 0; group < group_count(); ++group) judge_agreed(group, state_of(group).next - 1);
}

void verify(int group) {
  int mended = 0;
  int lost = 0;
  const int code = told(Fenix_Data_verify(kFirstGroup + group, &mended, &lost), "Fenix_Data_verify");
  require(code == FENIX_SUCCESS && lost == 0, "P5", "verify finds losses", lost, code);
}

void take_up() {
  groups.resize(plan().groups.size());
  for (int group = 0; group < group_count(); ++group) create_group(group);
  for (int group = 0; group < group_count(); ++group) define_members(group);
  for (int group = 0; group < group_count(); ++group) restore_group(group);
  agree();
  if (!once_in(plan().verified_of, dice(plan(), Purpose::verify, static_cast<std::uint64_t>(state_of(0).next)))) return;
  for (int group = 0; group < group_count(); ++group) verify(group);
}

// ------------------------------------------------------------------------------------------------------------------- a step

void store_member(int group, int member, int step) {
  GroupState& now = state_of(group);
  const MemberPlan& what = plan_of(group).members[static_cast<std::size_t>(member)];
  auto& buffer = now.buffers[static_cast<std::size_t>(member)];
  const Blocks blocks = blocks_of(plan(), group, member, rank, step, now.base);
  for (int i = 0; i < what.count_on(rank); ++i) {
    if (blocks.has(i)) write(buffer, what, i, value_of(plan(), group, member, rank, step, now.base, i));
  }
  // All that all leave out is the same on all ranks; a part is not.
  if (what.count_on(rank) > 0 && blocks.number == 0) return;
  const int id = kFirstGroup + group;
  const auto form = dice(plan(), Purpose::form, static_cast<std::uint64_t>(group), static_cast<std::uint64_t>(member),
                         static_cast<std::uint64_t>(step));
  const bool is_whole = blocks.length == what.count_on(rank);
  Fenix_Data_subset subset = FENIX_SUBSET_NULL;
  if (!is_whole) {
    success(
        Fenix_Data_subset_create(blocks.number, blocks.first, blocks.first + blocks.length - 1, blocks.stride, &subset),
        "Fenix_Data_subset_create");
  }
  const Fenix_Data_subset stored = is_whole ? FENIX_DATA_SUBSET_FULL : subset;
  if (plan().asynchronous && form % 3 == 0) {
    Fenix_Request request = FENIX_REQUEST_NULL;
    success(Fenix_Data_member_istorev(id, member, stored, &request), "Fenix_Data_member_istorev");
    success(Fenix_Data_wait(request), "Fenix_Data_wait");
  } else {
    success(Fenix_Data_member_storev(id, member, stored), "Fenix_Data_member_storev");
  }
  if (!is_whole) success(Fenix_Data_subset_delete(&subset), "Fenix_Data_subset_delete");
}

/// Deletes any snapshot but the only one. Nothing is asked before: an answer would tidy up.
void delete_one(int group, std::uint64_t dice) {
  GroupState& now = state_of(group);
  auto& snapshots = now.snapshots;
  if (snapshots.size() < 2) return;
  const std::size_t chosen = dice % snapshots.size();
  const Snapshot deleted = snapshots[chosen];
  judge_deletes(group, deleted.step, chosen + 1 < snapshots.size() ? snapshots[chosen + 1].step : -1);
  success(Fenix_Data_snapshot_delete(kFirstGroup + group, deleted.stamp), "Fenix_Data_snapshot_delete");
  judge_deleted(group, deleted.step);
  snapshots.erase(snapshots.begin() + static_cast<std::ptrdiff_t>(chosen));
  // The next snapshot would take parts that are left out from an older one.
  if (chosen == 0) now.base = now.next;
  int left = 0;
  success(Fenix_Data_group_get_number_of_snapshots(kFirstGroup + group, &left), "number_of_snapshots");
  require(left == static_cast<int>(snapshots.size()), "P1", "a deletion leaves another number of snapshots", left,
          static_cast<long>(snapshots.size()));
  for (int position = 0; position < left; ++position) {
    int stamp = -1;
    success(Fenix_Data_group_get_snapshot_at_position(kFirstGroup + group, position, &stamp), "snapshot_at_position");
    require(stamp == snapshots[static_cast<std::size_t>(position)].stamp, "P1", "a deletion leaves another snapshot",
            stamp, snapshots[static_cast<std::size_t>(position)].stamp);
  }
}

void do_step(int group, int step) {
  GroupState& now = state_of(group);
  now.record = {step, now.base, ranks};
  for (std::size_t member = 0; member < plan_of(group).members.size(); ++member) {
    store_member(group, static_cast<int>(member), step);
  }
  success(Fenix_Data_member_store(kFirstGroup + group, kRecordMember, FENIX_DATA_SUBSET_FULL), "store of the record");
  const bool barrier = has_barrier(plan(), group, step);
  int stamp = -1;
  judge_begins_commit(group, step);
  success(
      barrier ? Fenix_Data_commit_barrier(kFirstGroup + group, &stamp) : Fenix_Data_commit(kFirstGroup + group, &stamp),
      "commit");
  judge_committed(group, step, barrier ? 1 : 0);
  now.next = step + 1;
  note_snapshot(group, {stamp, step});
  const auto deletion =
      dice(plan(), Purpose::deletion, static_cast<std::uint64_t>(group), static_cast<std::uint64_t>(step));
  if (once_in(plan().deletions_of, deletion)) {
    // All have committed, so that the same is left everywhere; this rank has not been told.
    if (!barrier) mpi(MPI_Barrier(comm), "MPI_Barrier");
    for (std::uint64_t number = 1 + (deletion >> 8U) % 3; number > 0; --number)
      delete_one(group, mixed((deletion >> 16U) + number));
  }
  inspect(group, now.snapshots.empty() ? step : now.snapshots.front().step);
}

void exchange(int step) {
  if (!once_in(plan().messages_of, dice(plan(), Purpose::message, static_cast<std::uint64_t>(step)))) return;
  const std::int64_t mine = step * 1000 + rank;
  std::int64_t got = -1;
  MPI_Request requests[2];
  mpi(MPI_Irecv(&got, 1, MPI_INT64_T, (rank + ranks - 1) % ranks, 5, comm, &requests[0]), "MPI_Irecv");
  mpi(MPI_Isend(&mine, 1, MPI_INT64_T, (rank + 1) % ranks, 5, comm, &requests[1]), "MPI_Isend");
  mpi(MPI_Wait(&requests[0], MPI_STATUS_IGNORE), "MPI_Wait");
  mpi(MPI_Wait(&requests[1], MPI_STATUS_IGNORE), "MPI_Wait");
  require(got == step * 1000 + (rank + ranks - 1) % ranks, "P3", "a message of another step", got, step);
}

/// The roles and the list tell of the same ranks.
void check_failed() {
  // The communicator has shrunk: the list has the numbers from before.
  if (error != FENIX_SUCCESS) return;
  int* failed = nullptr;
  const int number = Fenix_Process_fail_list(&failed);
  require(number >= 0 && std::is_sorted(failed, failed + number), "P3", "Fenix_Process_fail_list", number);
  for (int other = 0; other < ranks; ++other) {
    int its_role = -1;
    success(Fenix_get_rank_role(comm, other, &its_role), "Fenix_get_rank_role");
    const bool is_listed = std::find(failed, failed + number, other) != failed + number;
    require(is_listed == (its_role == FENIX_ROLE_RECOVERED_RANK), "P3", "the list of the failed and the roles differ",
            other, its_role);
  }
}

void work() {
  check_failed();
  take_up();
  int step = plan().steps;
  for (const GroupState& group : groups) step = group.next < step ? group.next : step;
  for (; step < plan().steps; ++step) {
    for (int group = 0; group < group_count(); ++group) {
      // A failure may have come between the commits of two groups.
      if (state_of(group).next == step) do_step(group, step);
    }
    exchange(step);
  }
}

}  // namespace

/// Main function of each process.
extern "C" void fenix_simulated_program() {
  comm = MPI_COMM_NULL;
  if (plan().releases) Fenix_set_option(FENIX_SPARE_FINALIZE_MODE, FENIX_SPARE_FINALIZE_RELEASE);
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, nullptr, nullptr, plan().spares, 0, MPI_INFO_NULL, &error);
  if (error < 0) {
    judge_refused(error);
  } else if (role != FENIX_ROLE_SPARE_RANK) {
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    judge_resumed(rank, ranks, role);
    work();
    const int code = told(Fenix_Finalize(), "Fenix_Finalize");
    require(code == FENIX_SUCCESS, "P4", "Fenix_Finalize", code);
    judge_done(code);
  }
  MPI_Finalize();
}
