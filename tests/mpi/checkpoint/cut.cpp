// SPDX-License-Identifier: BSD-3-Clause
// An outcome in the log of rank 1 depends on a message that rank 0 has sent after it had stopped logging. After the restart rank 0 sends another
// message: the outcome must not be forced.
//
//   FENIX_FAULT=line.round:3:4:delay=1000 checkpoint_cut     4 ranks and a spare
//
// The delay is in the barrier that tells that all are ready. Rank 1 waits there for rank 3, and ranks 0 and 2 do not.
#include <fenix.hpp>
#include <mpi.h>
#include <unistd.h>

#include <csignal>

#include "../check.hpp"

using check::expect_equal;
using check::success;

namespace {

constexpr int kGroup = 1;
constexpr int kPlaceMember = 1;
constexpr int kLogMember = 2;
constexpr int kLogBytes = 1 << 16;
constexpr int kSignal = 7;  // tags
constexpr int kChoice = 10;
constexpr int kEnd = 20;

MPI_Comm comm = MPI_COMM_NULL;
int role = 0;
int error = 0;
int place = 0;  // 1: behind the checkpoint

int committed() {
  int count = 0;
  success(Fenix_Checkpoint_potential(nullptr), "Fenix_Checkpoint_potential");
  success(Fenix_Checkpoint_count(&count), "Fenix_Checkpoint_count");
  return count;
}

void wait_for_commit() {
  while (committed() == 0) usleep(1000);
}

void take_checkpoint() {
  place = 1;
  for (int taken = 0; taken == 0; usleep(1000))
    success(Fenix_Checkpoint_potential(&taken), "Fenix_Checkpoint_potential");
}

/// Makes a choice, tells it to rank 1 as a tag, and hears what that one has got.
void choose(bool is_again) {
  if (!is_again) wait_for_commit();
  int flag = 0;
  do {
    MPI_Iprobe(2, kSignal, comm, &flag, MPI_STATUS_IGNORE);
  } while (flag == 0 && !is_again);
  MPI_Send(nullptr, 0, MPI_BYTE, 1, kChoice + flag, comm);
  MPI_Recv(nullptr, 0, MPI_BYTE, 2, kSignal, comm, MPI_STATUS_IGNORE);
  int heard = 0;
  MPI_Recv(&heard, 1, MPI_INT, 1, kEnd, comm, MPI_STATUS_IGNORE);
  expect_equal(heard, kChoice + flag, "the choice that rank 1 has heard of");
  std::printf("chosen: %d\n", flag);
}

void hear_of_choice(bool is_again) {
  MPI_Status status;
  // It is ready, and waits for rank 3.
  for (int i = 0; i < 100 && !is_again; ++i) {
    (void)committed();
    usleep(1000);
  }
  MPI_Probe(0, MPI_ANY_TAG, comm, &status);
  MPI_Recv(nullptr, 0, MPI_BYTE, 0, status.MPI_TAG, comm, MPI_STATUS_IGNORE);
  MPI_Send(&status.MPI_TAG, 1, MPI_INT, 0, kEnd, comm);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 1, 0, MPI_INFO_NULL, &error);
  int rank = 0;
  int time_stamp = FENIX_CHECKPOINT_NONE;
  MPI_Comm_rank(comm, &rank);
  success(Fenix_Data_group_create(kGroup, comm, 0, 1, FENIX_DATA_POLICY_IN_MEMORY_RAID, nullptr, nullptr),
          "group_create");
  success(Fenix_Data_member_define(kGroup, kPlaceMember, &place, 1, MPI_INT), "member_define");
  success(Fenix_Checkpoint_begin(kGroup, kLogMember, kLogBytes, &time_stamp), "Fenix_Checkpoint_begin");
  const bool is_again = time_stamp != FENIX_CHECKPOINT_NONE;
  if (is_again) {
    success(Fenix_Data_member_restore(kGroup, kPlaceMember, &place, 1, time_stamp, nullptr), "restore");
    expect_equal(place, 1, "the place");
  } else {
    if (rank == 0) success(Fenix_Checkpoint_request(), "Fenix_Checkpoint_request");
    take_checkpoint();
  }
  // The message is there when rank 0 looks for it, and not there after the restart.
  if (rank == 2 && is_again) usleep(300'000);
  if (rank == 2) MPI_Send(nullptr, 0, MPI_BYTE, 0, kSignal, comm);
  if (rank == 0) choose(is_again);
  if (rank == 1) hear_of_choice(is_again);
  if (!is_again) {
    wait_for_commit();
    // All have committed when rank 2 dies.
    if (rank != 2) MPI_Send(nullptr, 0, MPI_BYTE, 2, kEnd, comm);
    for (int i = 0; rank == 2 && i < 3; ++i)
      MPI_Recv(nullptr, 0, MPI_BYTE, MPI_ANY_SOURCE, kEnd, comm, MPI_STATUS_IGNORE);
    if (rank == 2) raise(SIGKILL);
    MPI_Barrier(comm);
  }
  success(Fenix_Finalize(), "Fenix_Finalize");
  check::ok(rank);
  MPI_Finalize();
  return 0;
}
