// SPDX-License-Identifier: BSD-3-Clause
// After the start and after each repair: groups and members again, and what they have is checked, byte for byte.
#include <algorithm>
#include <array>
#include <cstring>

#include "journal.hpp"
#include "state.hpp"

namespace torture {
namespace {

constexpr int kTail = 3;  // elements behind the member that a restore must not touch
constexpr std::uint64_t kOlderToo = 100;
constexpr std::uint64_t kVerifyToo = 101;
constexpr std::uint64_t kRestoreForm = 102;
constexpr std::uint64_t kInspect = 103;

const GroupPlan& plan_of(int group) { return state.plan.groups[static_cast<std::size_t>(group)]; }
GroupState& state_of(int group) { return state.groups[static_cast<std::size_t>(group)]; }
int group_count() { return static_cast<int>(state.plan.groups.size()); }

/// The values of the policy, made to fit a communicator that has shrunk: the group may have to be created there.
std::vector<int> policy_values(const GroupPlan& plan) {
  std::vector<int> values = plan.values;
  if (state.ranks < 2) return {};
  const bool codes = plan.policy == FENIX_DATA_POLICY_REED_SOLOMON;
  int& separation = plan.policy == FENIX_DATA_POLICY_IN_MEMORY_RAID ? values[1] : values[0];
  separation = std::min(separation, state.ranks - 1);
  if (values.size() == 3) values[codes ? 1 : 2] = std::min(values[codes ? 1 : 2], state.ranks);
  if (codes) values[2] = std::min(values[2], state.ranks - 1);
  return values;
}

void create_group(int group) {
  const GroupPlan& plan = plan_of(group);
  std::vector<int> values = policy_values(plan);
  int flag = 1;
  success(Fenix_Data_group_create(plan.id, state.comm, 0, plan.depth, plan.policy,
                                  values.empty() ? nullptr : values.data(), &flag),
          "group_create");
  note("created " + std::to_string(group) + " " + std::to_string(flag));
  require(flag == FENIX_SUCCESS || flag == FENIX_ERROR_NODATA_FOUND || flag == FENIX_WARNING_SHARED_FATE ||
              flag == FENIX_WARNING_RESUMED,
          "flag of group_create " + std::to_string(flag));
  // A group goes on from the store when its snapshots are lost, or at the start; a death may cut that short.
  const bool is_resumed_in_vain = flag == FENIX_WARNING_RESUMED && state.repairs > 0 && !state.plan.relaunched;
  const bool lost = flag == FENIX_ERROR_NODATA_FOUND || is_resumed_in_vain;
  if (lost && state.plan.tolerated) fail("lost", "group_create says that snapshots were lost");
  int hashing = -1;
  success(Fenix_Data_group_get_hashing(plan.id, &hashing), "get_hashing");
  if ((hashing != 0) != plan.hashing) success(Fenix_Data_group_set_hashing(plan.id, plan.hashing), "set_hashing");
  int in_place = -1;
  success(Fenix_Data_group_get_in_place(plan.id, &in_place), "get_in_place");
  if ((in_place != 0) != plan.in_place) success(Fenix_Data_group_set_in_place(plan.id, plan.in_place), "set_in_place");
}

void define_members(int group) {
  const GroupPlan& plan = plan_of(group);
  GroupState& now = state_of(group);
  now.owned.resize(plan.members.size());
  now.buffers.resize(plan.members.size());
  for (std::size_t i = 0; i < plan.members.size(); ++i) {
    const MemberPlan& member = plan.members[i];
    const std::int64_t count = member.most_on(state.rank);
    const Bytes room = state.contents.room(group, static_cast<int>(i), count);
    // A size that is 0 on all ranks may change: memory cannot be had for that.
    if (member.allocated && (count > 0 || state.ranks > 1)) {
      void* base = nullptr;
      success(Fenix_Data_member_allocate(plan.id, member.id, static_cast<int>(count), mpi_type(member.type), &base),
              "member_allocate");
      now.buffers[i] = {static_cast<unsigned char*>(base), room.size()};
      std::copy(room.begin(), room.end(), now.buffers[i].begin());
      continue;
    }
    now.owned[i] = room;
    now.buffers[i] = now.owned[i];
    success(
        Fenix_Data_member_define(plan.id, member.id, now.buffers[i].data(),
                                 member.resizeable ? FENIX_RESIZEABLE : static_cast<int>(count), mpi_type(member.type)),
        "member_define");
  }
  success(Fenix_Data_member_define(plan.id, kRecordMember, &now.record, 3, MPI_INT64_T), "member_define of the record");
}

/// Where what was read differs from what is right, if it does.
void compare(const Bytes& got, const Bytes& wanted, int group, int member, int owner, const Record& record) {
  state.bytes_checked += static_cast<std::int64_t>(got.size());
  if (got == wanted) return;
  const auto at = static_cast<std::size_t>(std::mismatch(got.begin(), got.end(), wanted.begin()).first - got.begin());
  std::size_t differ = 0;
  for (std::size_t i = 0; i < got.size(); ++i) differ += got[i] != wanted[i] ? 1U : 0U;
  fail("wrong", "group " + std::to_string(group) + ", member " + std::to_string(member) + " of rank " +
                    std::to_string(owner) + ", snapshot of step " + std::to_string(record.step) + " from " +
                    std::to_string(record.base) + ": " + std::to_string(differ) + " of " + std::to_string(got.size()) +
                    " bytes differ, the first is " + std::to_string(at));
}

/// Whether the subset has exactly these elements.
void check_found(Fenix_Data_subset found, const std::vector<bool>& wanted) {
  MPI_Count blocks = 0;
  MPI_Count elements = 0;
  success(Fenix_Data_subset_get_number_of_blocks(found, &blocks), "subset_get_number_of_blocks");
  for (MPI_Count block = 0; block < blocks; ++block) {
    MPI_Count first = 0;
    MPI_Count last = 0;
    success(Fenix_Data_subset_get_block(found, block, &first, &last), "subset_get_block");
    require(last < static_cast<MPI_Count>(wanted.size()), "found elements that are not in the snapshot");
    require(std::find(wanted.begin() + first, wanted.begin() + last + 1, false) == wanted.begin() + last + 1,
            "found elements that were never stored");
    elements += last - first + 1;
  }
  require(elements == std::count(wanted.begin(), wanted.end(), true), "did not find all elements");
}

/// Restores with read(member id, buffer, room in elements, found) what owner has stored, and checks it.
template <class Read>
void check_member(int group, int member, int owner, const Record& record, const Read& read) {
  const MemberPlan& what = plan_of(group).members[static_cast<std::size_t>(member)];
  const std::int64_t room = what.most_on(owner) + kTail;
  Bytes got = state.contents.room(group, member, room);
  Bytes wanted = got;
  const auto covered = state.contents.fill_snapshot(wanted, group, member, owner, record.step, record.base);
  const bool whole = std::find(covered.begin(), covered.end(), false) == covered.end();
  Fenix_Data_subset found = FENIX_SUBSET_NULL;
  // There is room for more, which must stay as it is; what is wanted is the member.
  const int code = good(read(what.id, got.data(), static_cast<int>(covered.size()), &found), "restore");
  if (code == FENIX_ERROR_NODATA_FOUND) fail("lost", "member " + std::to_string(member) + " is not to be had");
  require(code == (whole ? FENIX_SUCCESS : FENIX_WARNING_PARTIAL_RESTORE),
          "restore of member " + std::to_string(member) + " returned " + std::to_string(code) +
              (whole ? ", though all was stored" : ", though not all was stored"));
  compare(got, wanted, group, member, owner, record);
  check_found(found, covered);
  success(Fenix_Data_subset_delete(&found), "subset_delete");
}

/// Each member in one of the ways there are.
void check_members(int group, int time_stamp, const Record& record) {
  const int id = plan_of(group).id;
  for (int member = 0; member < static_cast<int>(plan_of(group).members.size()); ++member) {
    const std::uint64_t dice =
        draw(state.plan.seed, {kRestoreForm, static_cast<std::uint64_t>(group), static_cast<std::uint64_t>(member),
                               static_cast<std::uint64_t>(record.step)}) %
        8;
    if (dice == 0) {
      const int source = (state.rank + 1) % state.ranks;
      check_member(group, member, source, record, [&](int which, void* to, int room, Fenix_Data_subset* found) {
        return Fenix_Data_member_restore_from_rank(id, which, to, room, time_stamp, found, source);
      });
      continue;
    }
    check_member(group, member, state.rank, record, [&](int which, void* to, int room, Fenix_Data_subset* found) {
      // A rank's own copy cannot be made good without the others.
      return dice == 1 && !state.plan.damage ? Fenix_Data_member_lrestore(id, which, to, room, time_stamp, found)
                                             : Fenix_Data_member_restore(id, which, to, room, time_stamp, found);
    });
  }
  ++state.restores;
}

/// Found by all or by none.
bool restore_snapshot(int group, int time_stamp, Record& record) {
  const int id = plan_of(group).id;
  const int code =
      good(Fenix_Data_member_restore(id, kRecordMember, &record, 3, time_stamp, nullptr), "restore of the record");
  if (code == FENIX_ERROR_NODATA_FOUND) return false;
  require(code == FENIX_SUCCESS, "restore of the record returned " + std::to_string(code));
  require(record.ranks == state.ranks, "the record is of " + std::to_string(record.ranks) + " ranks");
  check_members(group, time_stamp, record);
  return true;
}

/// The communicator has shrunk: snapshots can be read by the old numbers.
bool read_old_snapshot(int group, Record& record) {
  const int id = plan_of(group).id;
  int snapshots = 0;
  success(Fenix_Data_group_get_number_of_snapshots(id, &snapshots), "number_of_snapshots");
  if (snapshots == 0) return false;
  const int code =
      good(Fenix_Data_member_restore_from_rank(id, kRecordMember, &record, 3, FENIX_DATA_SNAPSHOT_LATEST, nullptr, 0),
           "restore_from_rank of the record");
  if (code == FENIX_ERROR_NODATA_FOUND) {
    if (state.plan.tolerated) fail("lost", "a snapshot that was put aside cannot be read");
    return false;
  }
  require(code == FENIX_SUCCESS, "restore_from_rank of the record returned " + std::to_string(code));
  require(record.ranks > state.ranks, "the record is of " + std::to_string(record.ranks) + " ranks");
  const auto old_ranks = static_cast<int>(record.ranks);
  for (int shift = 0; shift < old_ranks; ++shift) {
    const int source = (state.rank + shift) % old_ranks;
    for (int member = 0; member < static_cast<int>(plan_of(group).members.size()); ++member) {
      check_member(group, member, source, record, [&](int which, void* to, int room, Fenix_Data_subset* found) {
        return Fenix_Data_member_restore_from_rank(id, which, to, room, FENIX_DATA_SNAPSHOT_LATEST, found, source);
      });
    }
  }
  ++state.restores;
  return true;
}

void restore_group(int group) {
  GroupState& now = state_of(group);
  Record record;
  if (restore_snapshot(group, FENIX_DATA_SNAPSHOT_LATEST, record)) {
    now.base = record.base;
  } else {
    record = Record();
    if (!read_old_snapshot(group, record)) record = Record();
    now.base = record.step + 1;
  }
  now.next = record.step + 1;
}

/// All ranks have the same, and nothing that any of them knew to be committed is missing.
void agree() {
  std::vector<std::int64_t> mine;
  for (const GroupState& group : state.groups) {
    mine.insert(mine.end(), {group.next, -group.next, group.base, -group.base, group.committed});
  }
  mine.insert(mine.end(), {state.stamps_moved ? 1 : 0, state.repairs});
  std::vector<std::int64_t> most(mine.size());
  mpi(MPI_Allreduce(mine.data(), most.data(), static_cast<int>(mine.size()), MPI_INT64_T, MPI_MAX, state.own));
  state.stamps_moved = most[most.size() - 2] != 0;
  state.repairs = most[most.size() - 1];
  for (int i = 0; i < group_count(); ++i) {
    const std::int64_t* of_group = &most[static_cast<std::size_t>(i) * 5];
    GroupState& group = state_of(i);
    require(of_group[0] == -of_group[1] && of_group[2] == -of_group[3], "ranks restored different steps");
    const std::int64_t committed = of_group[4];
    const std::string what = "group " + std::to_string(i) + ": restored step " + std::to_string(group.next - 1) +
                             ", though step " + std::to_string(committed) + " was committed";
    if (group.next <= committed && state.plan.tolerated) fail("lost", what);
    // A snapshot of which nobody knew may have been lost, too.
    if (!state.plan.tolerated && state.repairs > 0 && group.next == 0) state.stamps_moved = true;
    if (group.next <= committed) {
      state.stamps_moved = true;
      note("lost " + std::to_string(i) + " " + std::to_string(group.next - 1) + " " + std::to_string(committed));
    }
    group.committed = group.next <= committed ? group.next - 1 : committed;
    note("restored " + std::to_string(i) + " " + std::to_string(group.next - 1));
  }
}

void check_older_snapshots(int group) {
  const GroupPlan& plan = plan_of(group);
  const GroupState& now = state_of(group);
  int snapshots = 0;
  success(Fenix_Data_group_get_number_of_snapshots(plan.id, &snapshots), "number_of_snapshots");
  const std::int64_t stored = now.next - now.base;
  const auto expected = static_cast<int>(plan.depth < 0 ? stored : std::min<std::int64_t>(stored, plan.depth + 1));
  require(!state.plan.tolerated || snapshots == expected, "group " + std::to_string(group) + " has " +
                                                              std::to_string(snapshots) + " snapshots, not " +
                                                              std::to_string(expected));
  for (int position = 0; position < snapshots; ++position) {
    int time_stamp = -1;
    success(Fenix_Data_group_get_snapshot_at_position(plan.id, position, &time_stamp), "snapshot_at_position");
    Record record;
    if (!restore_snapshot(group, time_stamp, record)) fail("lost", "an older snapshot cannot be restored");
    require(state.stamps_moved || (record.step == time_stamp && record.step == now.next - 1 - position),
            "the snapshot at position " + std::to_string(position) + " is of step " + std::to_string(record.step) +
                " and has the time stamp " + std::to_string(time_stamp));
  }
}

void verify(int group) {
  int mended = -1;
  int lost = -1;
  const int code = good(Fenix_Data_verify(plan_of(group).id, &mended, &lost), "verify");
  if (code == FENIX_ERROR_NODATA_FOUND)
    fail("lost", "verify found " + std::to_string(lost) + " versions beyond repair");
  require(code == FENIX_SUCCESS, "verify returned " + std::to_string(code));
  require(lost == 0 && (mended == 0 || state.plan.damage),
          "verify mended " + std::to_string(mended) + " and lost " + std::to_string(lost));
}

/// More of what a repair leaves, at times; all ranks alike.
void look_closer() {
  for (int group = 0; group < group_count(); ++group) {
    const GroupState& now = state_of(group);
    if (now.next == now.base) continue;
    const auto turn = {static_cast<std::uint64_t>(group), static_cast<std::uint64_t>(now.next),
                       static_cast<std::uint64_t>(state.repairs)};
    const auto dice = [&](std::uint64_t purpose) {
      return draw(state.plan.seed, {purpose, *turn.begin(), *(turn.begin() + 1), *(turn.begin() + 2)});
    };
    if (dice(kVerifyToo) % 3 == 0) verify(group);
    if (dice(kOlderToo) % 2 == 0) check_older_snapshots(group);
  }
}

}  // namespace

void inspect(int group) {
  const GroupState& now = state_of(group);
  const std::uint64_t dice =
      draw(state.plan.seed, {kInspect, static_cast<std::uint64_t>(group), static_cast<std::uint64_t>(now.next)}) % 16;
  if (dice == 0) verify(group);
  if (dice != 1) return;
  Record record;
  if (!restore_snapshot(group, FENIX_DATA_SNAPSHOT_LATEST, record)) {
    fail("lost", std::string("nothing to restore: ") + Fenix_Error_message());
  }
  if (record.step < now.committed) fail("lost", "restored an older step than was committed");
  require(record.step < now.next, "restored a step that was not stored");
}

void resume() {
  for (int group = 0; group < group_count(); ++group) create_group(group);
  for (int group = 0; group < group_count(); ++group) define_members(group);
  for (int group = 0; group < group_count(); ++group) restore_group(group);
  agree();
  look_closer();
}

}  // namespace torture
