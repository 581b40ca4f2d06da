// SPDX-License-Identifier: BSD-3-Clause
// A rank holds a receive open for a long time, so that it cannot take its checkpoint. The checkpoint is given up on all ranks. Later ones are made
// when the receive is complete, and a rank that dies then goes on from one. With a death before, all begin again.
//
//   checkpoint_refused [late]
#include <fenix.hpp>
#include <mpi.h>

#include <csignal>
#include <cstdint>
#include <string>

#include "checkpoints.hpp"

using check::expect_equal;
using check::require;
using check::success;

namespace {

constexpr int kGroup = 1;
constexpr int kStateMember = 1;
constexpr int kLogMember = 2;
constexpr int kLogBytes = 1 << 14;
constexpr int kHolder = 1;  // of the receive
constexpr int kHeldTag = 7;
constexpr int kTag = 8;
constexpr int kMillisecondsOfStep = 10;
constexpr std::int64_t kEndOfHold = 700;  // steps: longer than the patience of the library
constexpr std::int64_t kSteps = 1500;

struct State {
  std::int64_t step = 0;
  std::int64_t sum = 0;
};

/// Sends to the next rank, after a place for a checkpoint.
void step(State& state, MPI_Comm comm, int own, int size) {
  success(Fenix_Checkpoint_potential(nullptr), "Fenix_Checkpoint_potential");
  const int before = (own + size - 1) % size;
  const std::int64_t value = state.step * 100 + own;
  std::int64_t other = 0;
  MPI_Send(&value, 1, MPI_INT64_T, (own + 1) % size, kTag, comm);
  MPI_Recv(&other, 1, MPI_INT64_T, before, kTag, comm, MPI_STATUS_IGNORE);
  expect_equal(other, state.step * 100 + before, "a message");
  state.sum += other;
  ++state.step;
  usleep(kMillisecondsOfStep * 1000);
}

int complete() {
  int count = 0;
  success(Fenix_Checkpoint_count(&count), "Fenix_Checkpoint_count");
  return count;
}

/// Holds a receive open, while a checkpoint is asked for.
void hold(State& state, MPI_Comm comm, int own, int size) {
  int held = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  if (own == kHolder) MPI_Irecv(&held, 1, MPI_INT, 0, kHeldTag, comm, &request);
  if (own == 0) success(Fenix_Checkpoint_request(), "Fenix_Checkpoint_request");
  while (state.step < kEndOfHold) step(state, comm, own, size);
  expect_equal(complete(), 0, "checkpoints while the receive is open");
  const int value = 4711;
  if (own == 0) MPI_Send(&value, 1, MPI_INT, kHolder, kHeldTag, comm);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (own == kHolder) expect_equal(held, value, "the held message");
  // It was given up. This one is made.
  if (own == 0) success(Fenix_Checkpoint_request(), "Fenix_Checkpoint_request");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Comm comm = MPI_COMM_NULL;
  int role = 0;
  int error = 0;
  int own = 0;
  int size = 0;
  int time_stamp = FENIX_CHECKPOINT_NONE;
  State state;
  MPI_Init(&argc, &argv);
  const bool dies_late = argc > 1 && std::string(argv[1]) == "late";
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 1, 0, MPI_INFO_NULL, &error);
  MPI_Comm_rank(comm, &own);
  MPI_Comm_size(comm, &size);
  success(Fenix_Data_group_create(kGroup, comm, 0, 1, FENIX_DATA_POLICY_IN_MEMORY_RAID, nullptr, nullptr), "group");
  success(Fenix_Data_member_define(kGroup, kStateMember, &state, 2, MPI_INT64_T), "member");
  success(Fenix_Checkpoint_begin(kGroup, kLogMember, kLogBytes, &time_stamp), "Fenix_Checkpoint_begin");
  state = {};
  const bool has_checkpoint = time_stamp != FENIX_CHECKPOINT_NONE;
  if (role != FENIX_ROLE_INITIAL_RANK) expect_equal(has_checkpoint, dies_late, "whether there is a checkpoint");
  if (has_checkpoint) {
    success(Fenix_Data_member_restore(kGroup, kStateMember, &state, 2, time_stamp, nullptr), "restore");
  } else {
    hold(state, comm, own, size);
  }
  while (state.step < kSteps) step(state, comm, own, size);
  if (!has_checkpoint) require(complete() > 0, "a checkpoint after the receive is complete");
  if (dies_late && !has_checkpoint && own == 2) raise(SIGKILL);
  std::int64_t sum = 0;
  for (std::int64_t each = 0; each < kSteps; ++each) sum += each * 100 + (own + size - 1) % size;
  expect_equal(state.sum, sum, "the sum of all messages");
  success(Fenix_Checkpoint_finish(), "Fenix_Checkpoint_finish");
  success(Fenix_Finalize(), "Fenix_Finalize");
  check::ok(own);
  MPI_Finalize();
  return 0;
}
