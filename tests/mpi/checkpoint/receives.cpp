// SPDX-License-Identifier: BSD-3-Clause
// Receives that are only counted between checkpoints. No checkpoint begins while one is open; and it can be completed in all ways, cancelled, and
// left to itself. A rank dies with an open receive, and all go on from a checkpoint.
//
//   checkpoint_receives
#include <fenix.hpp>
#include <mpi.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>

#include "checkpoints.hpp"

using check::expect_equal;
using check::require;
using check::success;
using check::wait_for;

namespace {

constexpr int kGroup = 1;
constexpr int kStateMember = 1;
constexpr int kLogMember = 2;
constexpr int kLogBytes = 1 << 16;
constexpr int kSteps = 30;
constexpr int kLastStepOfVictim = 22;
constexpr int kStepsOfCheckpoint = 3;
constexpr int kVictim = 1;

// The first message of each tag is more than counted.
constexpr int kTag = 1;
constexpr int kTagOfCancelled = 2;
constexpr int kTagOfFreed = 3;

struct State {
  std::int64_t step = 0;
  std::int64_t sum = 0;
};

MPI_Comm comm = MPI_COMM_NULL;
int role = 0;
int error = 0;
int own = 0;
int peer = 0;
State state;

std::int64_t value_of(int rank, std::int64_t step) { return 100 * step + rank + 1; }

void send(int tag) {
  const std::int64_t value = value_of(own, state.step);
  MPI_Send(&value, 1, MPI_INT64_T, peer, tag, comm);
}

MPI_Request begin_receive(std::int64_t* value, int tag) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(value, 1, MPI_INT64_T, peer, tag, comm, &request);
  return request;
}

/// Completes two receives, in one of the ways that there are.
void complete(std::array<MPI_Request, 2>& requests, int way) {
  std::array<MPI_Status, 2> statuses{};
  std::array<int, 2> indices{};
  int count = 0;
  int open = 2;
  int flag = 0;
  const auto one_by_one = [&](auto call) {
    for (MPI_Request& each : requests) wait_for("the request is complete", [&] { return call(each) != 0; });
  };
  const auto until_all = [&](auto call) {
    wait_for("all requests are complete", [&] {
      open -= call();
      return open == 0;
    });
  };
  switch (way) {
    case 0:
      for (MPI_Request& each : requests) MPI_Wait(&each, MPI_STATUS_IGNORE);
      break;
    case 1:
      MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
      break;
    case 2:
      until_all([&] { return MPI_Waitany(2, requests.data(), &count, MPI_STATUS_IGNORE) == MPI_SUCCESS ? 1 : 0; });
      break;
    case 3:
      until_all([&] {
        MPI_Waitsome(2, requests.data(), &count, indices.data(), statuses.data());
        return count;
      });
      break;
    case 4:
      one_by_one([&](MPI_Request& each) {
        MPI_Test(&each, &flag, MPI_STATUS_IGNORE);
        return flag;
      });
      break;
    case 5:
      until_all([&] {
        MPI_Testall(2, requests.data(), &flag, statuses.data());
        return flag != 0 ? 2 : 0;
      });
      break;
    case 6:
      until_all([&] {
        int index = 0;
        MPI_Testany(2, requests.data(), &index, &flag, MPI_STATUS_IGNORE);
        return flag != 0 ? 1 : 0;
      });
      break;
    default:
      until_all([&] {
        MPI_Testsome(2, requests.data(), &count, indices.data(), MPI_STATUSES_IGNORE);
        return count;
      });
      break;
  }
  for (const MPI_Request each : requests) require(each == MPI_REQUEST_NULL, "a completed request is null");
}

void cancel_one() {
  std::int64_t value = 0;
  MPI_Request request = begin_receive(&value, kTagOfCancelled);
  // The message that comes is for the second one.
  MPI_Request next = begin_receive(&value, kTagOfCancelled);
  MPI_Status status;
  int is_cancelled = 0;
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &is_cancelled);
  require(is_cancelled != 0, "a receive without a message is cancelled");
  MPI_Barrier(comm);
  send(kTagOfCancelled);
  MPI_Wait(&next, MPI_STATUS_IGNORE);
  expect_equal(value, value_of(peer, state.step), "the message of the receive behind a cancelled one");
}

/// Begins a receive whose request is freed at once. Its message comes before the next ones of the step.
void receive_freely(std::int64_t* value) {
  MPI_Request request = begin_receive(value, kTagOfFreed);
  MPI_Request_free(&request);
  send(kTagOfFreed);
}

void refuse_checkpoint() {
  // Each request counts: one for each checkpoint that is taken.
  if (own == 0 && state.step % kStepsOfCheckpoint == 0) success(Fenix_Checkpoint_request(), "Fenix_Checkpoint_request");
  constexpr int kLooks = 3;
  for (int look = 0; look < kLooks; ++look) {
    int taken = 0;
    usleep(1500);
    success(Fenix_Checkpoint_potential(&taken), "Fenix_Checkpoint_potential");
    require(taken == 0, "no checkpoint with an open receive");
  }
}

void complete_checkpoint() {
  int before = 0;
  success(Fenix_Checkpoint_count(&before), "Fenix_Checkpoint_count");
  check::take_checkpoint();
  check::await_checkpoints(before + 1);
}

void do_step() {
  constexpr int kWays = 8;
  std::array<std::int64_t, 2> values{};
  std::int64_t freed = 0;
  cancel_one();
  receive_freely(&freed);
  std::array<MPI_Request, 2> requests{begin_receive(values.data(), kTag), begin_receive(values.data() + 1, kTag)};
  if (own == kVictim && role == FENIX_ROLE_INITIAL_RANK && state.step == kLastStepOfVictim) raise(SIGKILL);
  refuse_checkpoint();
  send(kTag);
  send(kTag);
  complete(requests, static_cast<int>(state.step % kWays));
  for (const std::int64_t each : values) expect_equal(each, value_of(peer, state.step), "a message");
  expect_equal(freed, value_of(peer, state.step), "the message of a freed request");
  state.sum += values[0];
  ++state.step;
  // Each way comes before some checkpoint: a receive that was not forgotten would be in its way. Some steps are repeated after the restart.
  if (state.step % kStepsOfCheckpoint == 0) complete_checkpoint();
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 1, 0, MPI_INFO_NULL, &error);
  MPI_Comm_rank(comm, &own);
  peer = 1 - own;
  int time_stamp = FENIX_CHECKPOINT_NONE;
  success(Fenix_Data_group_create(kGroup, comm, 0, 1, FENIX_DATA_POLICY_IN_MEMORY_RAID, nullptr, nullptr), "group");
  success(Fenix_Data_member_define(kGroup, kStateMember, &state, 2, MPI_INT64_T), "member");
  success(Fenix_Checkpoint_begin(kGroup, kLogMember, kLogBytes, &time_stamp), "Fenix_Checkpoint_begin");
  if (time_stamp == FENIX_CHECKPOINT_NONE) {
    require(role == FENIX_ROLE_INITIAL_RANK, "a checkpoint to begin with");
    state = {};
  } else {
    success(Fenix_Data_member_restore(kGroup, kStateMember, &state, 2, time_stamp, nullptr), "restore");
    expect_equal(state.step, std::int64_t{kLastStepOfVictim - 1}, "the step of the checkpoint");
  }
  while (state.step < kSteps) do_step();
  std::int64_t sum = 0;
  for (int step = 0; step < kSteps; ++step) sum += value_of(peer, step);
  expect_equal(state.sum, sum, "the sum of all messages");
  success(Fenix_Checkpoint_finish(), "Fenix_Checkpoint_finish");
  success(Fenix_Finalize(), "Fenix_Finalize");
  check::ok(own);
  MPI_Finalize();
  return 0;
}
