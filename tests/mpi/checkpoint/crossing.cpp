// SPDX-License-Identifier: BSD-3-Clause
// A collective operation that crosses the recovery line: each rank takes its checkpoint before the operation, or after it. Then a rank dies, and all
// go on from that checkpoint. Ranks before the line do the operation once more, the others do not (figures 2, 4 and 5 of Bronevetsky et al.).
//
//   checkpoint_crossing OPERATION AFTER        AFTER: for each rank 1 if its checkpoint comes after the operation, else 0; for example 0101
//
// Rank 0 asks for the checkpoint, and ranks 1 and 2 hear of it from rank 0, rank 3 from rank 1. So a rank that comes after the operation has no
// rank below it that comes before: that one would wait for the question. Only a sender that waits for nobody can come later.
#include <fenix.hpp>
#include <mpi.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <string>

#include "checkpoints.hpp"

using check::require;
using check::success;

namespace {

constexpr int kGroup = 1;
constexpr int kStateMember = 1;
constexpr int kLogMember = 2;
constexpr int kLogBytes = 1 << 16;
constexpr int kRanks = 4;
constexpr int kVictim = 2;

struct State {
  std::int64_t is_done = 0;  ///< the operation
  std::int64_t value = 0;
};

std::string operation;
std::string after;
MPI_Comm comm = MPI_COMM_NULL;
int role = 0;
int error = 0;
int rank_of_this = 0;
State state;

bool begins_with(const char* name) { return operation.rfind(name, 0) == 0; }
int root() { return operation.back() == '3' ? 3 : 0; }

/// Does the operation. Returns the value of this rank after it.
std::int64_t operate() {
  const std::int64_t own = rank_of_this + 1;
  std::array<std::int64_t, kRanks> all{};
  std::int64_t result = 0;
  if (begins_with("bcast")) {
    result = own;
    MPI_Bcast(&result, 1, MPI_INT64_T, root(), comm);
  } else if (begins_with("scatter")) {
    for (int i = 0; i < kRanks; ++i) all[static_cast<std::size_t>(i)] = own * 10 + i;
    MPI_Scatter(all.data(), 1, MPI_INT64_T, &result, 1, MPI_INT64_T, root(), comm);
  } else if (begins_with("reduce_scatter")) {
    for (int i = 0; i < kRanks; ++i) all[static_cast<std::size_t>(i)] = own * 10 + i;
    MPI_Reduce_scatter_block(all.data(), &result, 1, MPI_INT64_T, MPI_SUM, comm);
  } else if (begins_with("reduce")) {
    MPI_Reduce(&own, &result, 1, MPI_INT64_T, MPI_SUM, root(), comm);
  } else if (begins_with("gather")) {
    MPI_Gather(&own, 1, MPI_INT64_T, all.data(), 1, MPI_INT64_T, root(), comm);
    for (const std::int64_t each : all) result = result * 10 + each;
  } else if (operation == "allreduce") {
    MPI_Allreduce(&own, &result, 1, MPI_INT64_T, MPI_SUM, comm);
  } else if (operation == "iallreduce") {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallreduce(&own, &result, 1, MPI_INT64_T, MPI_SUM, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (operation == "allgather") {
    MPI_Allgather(&own, 1, MPI_INT64_T, all.data(), 1, MPI_INT64_T, comm);
    for (const std::int64_t each : all) result = result * 10 + each;
  } else if (operation == "alltoall") {
    std::array<std::int64_t, kRanks> sent{};
    for (int i = 0; i < kRanks; ++i) sent[static_cast<std::size_t>(i)] = own * 10 + i;
    MPI_Alltoall(sent.data(), 1, MPI_INT64_T, all.data(), 1, MPI_INT64_T, comm);
    for (const std::int64_t each : all) result = result * 100 + each;
  } else if (operation == "scan") {
    MPI_Scan(&own, &result, 1, MPI_INT64_T, MPI_SUM, comm);
  } else if (operation == "exscan") {
    MPI_Exscan(&own, &result, 1, MPI_INT64_T, MPI_SUM, comm);
  } else if (operation == "barrier") {
    MPI_Barrier(comm);
  } else {
    check::fail("an operation " + operation);
  }
  return result;
}

std::int64_t expected() {
  const std::int64_t own = rank_of_this + 1;
  const bool is_root = rank_of_this == root();
  if (begins_with("bcast")) return root() + 1;
  if (begins_with("scatter")) return (root() + 1) * 10 + rank_of_this;
  if (begins_with("reduce_scatter")) return 100 + 4 * rank_of_this;
  if (begins_with("reduce")) return is_root ? 10 : 0;
  if (begins_with("gather")) return is_root ? 1234 : 0;
  if (operation == "allreduce" || operation == "iallreduce") return 10;
  if (operation == "allgather") return 1234;
  if (operation == "alltoall") return 10203040 + 1010101 * std::int64_t{rank_of_this};
  if (operation == "scan") return own * (own + 1) / 2;
  if (operation == "exscan") return own * (own - 1) / 2;
  return 0;
}

void do_operation() {
  state.value = operate();
  state.is_done = 1;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  require(argc == 3, "OPERATION AFTER");
  operation = argv[1];
  after = argv[2];
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 1, 0, MPI_INFO_NULL, &error);
  MPI_Comm_rank(comm, &rank_of_this);
  int time_stamp = FENIX_CHECKPOINT_NONE;
  success(Fenix_Data_group_create(kGroup, comm, 0, 1, FENIX_DATA_POLICY_IN_MEMORY_RAID, nullptr, nullptr), "group");
  success(Fenix_Data_member_define(kGroup, kStateMember, &state, 2, MPI_INT64_T), "member");
  success(Fenix_Checkpoint_begin(kGroup, kLogMember, kLogBytes, &time_stamp), "Fenix_Checkpoint_begin");
  if (time_stamp == FENIX_CHECKPOINT_NONE) {
    require(role == FENIX_ROLE_INITIAL_RANK, "a checkpoint to begin with");
    state = {};
    const bool comes_after = after.at(static_cast<std::size_t>(rank_of_this)) == '1';
    if (comes_after) do_operation();
    if (rank_of_this == 0) success(Fenix_Checkpoint_request(), "Fenix_Checkpoint_request");
    check::take_checkpoint();
    if (!comes_after) do_operation();
    check::await_checkpoints(1);
    check::expect_equal(state.value, expected(), "the value before the death");
    MPI_Barrier(comm);
    if (rank_of_this == kVictim) raise(SIGKILL);
    // Here it becomes known.
    MPI_Barrier(comm);
    check::fail("a barrier without a rank");
  }
  success(Fenix_Data_member_restore(kGroup, kStateMember, &state, 2, time_stamp, nullptr), "restore");
  check::expect_equal(state.is_done, std::int64_t{after.at(static_cast<std::size_t>(rank_of_this)) - '0'}, "the line");
  if (state.is_done == 0) do_operation();
  check::expect_equal(state.value, expected(), "the value after the restart");
  // Nothing is left over that other operations could get.
  std::int64_t sum = 0;
  MPI_Barrier(comm);
  MPI_Barrier(comm);
  MPI_Allreduce(&state.value, &sum, 1, MPI_INT64_T, MPI_MAX, comm);
  success(Fenix_Checkpoint_finish(), "Fenix_Checkpoint_finish");
  success(Fenix_Finalize(), "Fenix_Finalize");
  check::ok(rank_of_this);
  MPI_Finalize();
  return 0;
}
