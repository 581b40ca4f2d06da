// SPDX-License-Identifier: BSD-3-Clause
// The program that all simulated processes run. It is linked with the library, and calls what programs call.
#include <fenix.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "program_state.hpp"

namespace fenix_simulation::program {

MPI_Comm comm;
int role;
int error;
int rank;
int ranks;
std::vector<GroupState> groups;

namespace {

void store_member(int group, int member, int step) {
  GroupState& now = state_of(group);
  const MemberPlan& what = plan_of(group).members[static_cast<std::size_t>(member)];
  auto& buffer = now.buffers[static_cast<std::size_t>(member)];
  const Blocks blocks = blocks_of(plan(), group, member, rank, step, now.base);
  for (int i = 0; i < what.count_on(rank); ++i) {
    if (blocks.has(i)) write(buffer, what, i, value_of(plan(), group, member, rank, {step, now.base, now.attempts}, i));
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
  attempt_of(now.attempts, step) = now.attempt;
  now.record = {step, now.base, ranks, now.attempts};
  for (std::size_t member = 0; member < plan_of(group).members.size(); ++member) {
    store_member(group, static_cast<int>(member), step);
  }
  success(Fenix_Data_member_store(kFirstGroup + group, kRecordMember, FENIX_DATA_SUBSET_FULL), "store of the record");
  const bool barrier = has_barrier(plan(), group, step);
  int stamp = -1;
  judge_begins_commit(group, step, now.attempt);
  success(
      barrier ? Fenix_Data_commit_barrier(kFirstGroup + group, &stamp) : Fenix_Data_commit(kFirstGroup + group, &stamp),
      "commit");
  judge_committed(group, step, now.attempt, barrier ? 1 : 0);
  now.next = step + 1;
  note_snapshot(group, {stamp, step});
  if (plan().has_store()) use_store(group, step, stamp);
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
  const int steps = plan().steps_of(judge_job());
  const auto next_step = [] {
    int step = groups.front().next;
    for (const GroupState& group : groups) step = group.next < step ? group.next : step;
    return step;
  };
  for (int step = next_step(); step < steps; step = next_step()) {
    for (int group = 0; group < group_count(); ++group) {
      // A failure may have come between the commits of two groups.
      if (state_of(group).next == step) do_step(group, step);
      if (plan().fetched_of > 0 && state_of(group).next == step + 1) go_back(group, step);
    }
    exchange(step);
  }
}

}  // namespace
}  // namespace fenix_simulation::program

using namespace fenix_simulation::program;

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
    judge_finishes();
    const int code = told(Fenix_Finalize(), "Fenix_Finalize");
    require(code == FENIX_SUCCESS, "P4", "Fenix_Finalize", code);
    judge_done(code);
  }
  MPI_Finalize();
}
