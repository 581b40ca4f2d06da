// SPDX-License-Identifier: BSD-3-Clause
// Each message has a tag of its own. A checkpoint has counts of those since the one before only: its log would soon be too small otherwise. A
// rank dies late, and all go on from the newest checkpoint.
//
//   checkpoint_new_tags
#include <fenix.hpp>
#include <mpi.h>

#include <csignal>
#include <cstdint>

#include "checkpoints.hpp"

using check::expect_equal;
using check::require;
using check::success;

namespace {

constexpr int kGroup = 1;
constexpr int kStateMember = 1;
constexpr int kLogMember = 2;
constexpr int kLogBytes = 1 << 14;
constexpr int kStepsOfCheckpoint = 50;
constexpr int kSteps = 20 * kStepsOfCheckpoint;
constexpr int kLastStepOfVictim = kSteps - 10;
constexpr int kVictim = 1;

struct State {
  std::int64_t step = 0;
  std::int64_t sum = 0;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Comm comm = MPI_COMM_NULL;
  int role = 0;
  int error = 0;
  int own = 0;
  int time_stamp = FENIX_CHECKPOINT_NONE;
  State state;
  MPI_Init(&argc, &argv);
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 1, 0, MPI_INFO_NULL, &error);
  MPI_Comm_rank(comm, &own);
  success(Fenix_Data_group_create(kGroup, comm, 0, 1, FENIX_DATA_POLICY_IN_MEMORY_RAID, nullptr, nullptr), "group");
  success(Fenix_Data_member_define(kGroup, kStateMember, &state, 2, MPI_INT64_T), "member");
  success(Fenix_Checkpoint_begin(kGroup, kLogMember, kLogBytes, &time_stamp), "Fenix_Checkpoint_begin");
  state = {};
  if (role != FENIX_ROLE_INITIAL_RANK) require(time_stamp != FENIX_CHECKPOINT_NONE, "a checkpoint to begin with");
  if (time_stamp != FENIX_CHECKPOINT_NONE) {
    success(Fenix_Data_member_restore(kGroup, kStateMember, &state, 2, time_stamp, nullptr), "restore");
    expect_equal(state.step, std::int64_t{kSteps - kStepsOfCheckpoint}, "the step of the checkpoint");
  }
  while (state.step < kSteps) {
    if (own == kVictim && role == FENIX_ROLE_INITIAL_RANK && state.step == kLastStepOfVictim) raise(SIGKILL);
    const std::int64_t value = state.step * (own + 1);
    std::int64_t other = 0;
    // One more that is late: it comes after the checkpoint of its receiver.
    MPI_Send(&value, 1, MPI_INT64_T, 1 - own, 2 * static_cast<int>(state.step), comm);
    MPI_Send(&value, 1, MPI_INT64_T, 1 - own, 2 * static_cast<int>(state.step) + 1, comm);
    MPI_Recv(&other, 1, MPI_INT64_T, 1 - own, 2 * static_cast<int>(state.step), comm, MPI_STATUS_IGNORE);
    expect_equal(other, state.step * (2 - own), "a message");
    if (state.step > 0) {
      MPI_Recv(&other, 1, MPI_INT64_T, 1 - own, 2 * static_cast<int>(state.step) - 1, comm, MPI_STATUS_IGNORE);
      expect_equal(other, (state.step - 1) * (2 - own), "a message of the step before");
    }
    state.sum += other;
    ++state.step;
    if (state.step % kStepsOfCheckpoint != 0) continue;
    if (own == 0) success(Fenix_Checkpoint_request(), "Fenix_Checkpoint_request");
    check::take_checkpoint();
  }
  std::int64_t last = 0;
  MPI_Recv(&last, 1, MPI_INT64_T, 1 - own, 2 * kSteps - 1, comm, MPI_STATUS_IGNORE);
  success(Fenix_Checkpoint_finish(), "Fenix_Checkpoint_finish");
  success(Fenix_Finalize(), "Fenix_Finalize");
  check::ok(own);
  MPI_Finalize();
  return 0;
}
