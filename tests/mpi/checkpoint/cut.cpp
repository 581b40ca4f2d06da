// SPDX-License-Identifier: BSD-3-Clause
// Rank 1, which logs yet, hears what rank 0 has chosen after it had stopped logging (Bronevetsky et al., the stop lines of figures 2 and 5). After the
// restart rank 0 makes another choice: no outcome in the log of rank 1 that depends on the first one must be forced.
//
//   FENIX_FAULT=line.round:3:4:delay=2000 checkpoint_cut WAY     4 ranks and a spare
//
// WAY: the call in which rank 1 hears of the choice. In probe, recv, iprobe and waitany that is an outcome of its log; the others are collective
// operations of both. The delay is in the barrier that tells that all are ready. Rank 1 waits there for rank 3, and ranks 0 and 2 do not.
#include <fenix.hpp>
#include <mpi.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string>

#include "checkpoints.hpp"

using check::expect_equal;
using check::require;
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
std::string way;
MPI_Comm pair = MPI_COMM_NULL;  // ranks 0 and 1

void take_checkpoint() {
  place = 1;
  check::take_checkpoint();
}

bool is_collective() { return way != "probe" && way != "recv" && way != "iprobe" && way != "waitany"; }

/// Does an operation of ranks 0 and 1. value: of rank 0; the other one has 0. Returns the value of rank 0 on those ranks that get it.
int operate(int value) {
  std::array<int, 2> two{value, value};
  std::array<int, 2> all{};
  int result = value;
  if (way == "bcast") {
    MPI_Bcast(&result, 1, MPI_INT, 0, pair);
  } else if (way == "scatter") {
    MPI_Scatter(two.data(), 1, MPI_INT, &result, 1, MPI_INT, 0, pair);
  } else if (way == "gather") {
    MPI_Gather(&value, 1, MPI_INT, all.data(), 1, MPI_INT, 1, pair);
    result = all[0];
  } else if (way == "reduce") {
    MPI_Reduce(&value, &result, 1, MPI_INT, MPI_SUM, 1, pair);
  } else if (way == "allreduce") {
    MPI_Allreduce(&value, &result, 1, MPI_INT, MPI_SUM, pair);
  } else if (way == "iallreduce") {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallreduce(&value, &result, 1, MPI_INT, MPI_SUM, pair, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (way == "allgather") {
    MPI_Allgather(&value, 1, MPI_INT, all.data(), 1, MPI_INT, pair);
    result = all[0];
  } else if (way == "alltoall") {
    MPI_Alltoall(two.data(), 1, MPI_INT, all.data(), 1, MPI_INT, pair);
    result = all[0];
  } else if (way == "scan") {
    MPI_Scan(&value, &result, 1, MPI_INT, MPI_SUM, pair);
  } else {
    check::fail("a way " + way);
  }
  return result;
}

/// Makes a choice, tells it to rank 1, and hears what that one has got.
void choose(bool is_again) {
  if (!is_again) check::await_checkpoints(1);
  int flag = 0;
  do {
    MPI_Iprobe(2, kSignal, comm, &flag, MPI_STATUS_IGNORE);
  } while (flag == 0 && !is_again);
  if (is_collective()) {
    (void)operate(kChoice + flag);
  } else {
    MPI_Send(nullptr, 0, MPI_BYTE, 1, kChoice + flag, comm);
  }
  MPI_Recv(nullptr, 0, MPI_BYTE, 2, kSignal, comm, MPI_STATUS_IGNORE);
  int heard = 0;
  MPI_Recv(&heard, 1, MPI_INT, 1, kEnd, comm, MPI_STATUS_IGNORE);
  expect_equal(heard, kChoice + flag, "the choice that rank 1 has heard of");
  std::printf("chosen: %d\n", flag);
}

/// Returns the tag of the message that tells of the choice.
int tag_that_comes() {
  MPI_Status status{};
  if (way == "recv") {
    MPI_Recv(nullptr, 0, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
    return status.MPI_TAG;
  }
  if (way == "waitany") {
    std::array<MPI_Request, 2> requests{};
    for (int i = 0; i < 2; ++i)
      MPI_Irecv(nullptr, 0, MPI_BYTE, 0, kChoice + i, comm, &requests[static_cast<std::size_t>(i)]);
    int index = MPI_UNDEFINED;
    MPI_Waitany(2, requests.data(), &index, MPI_STATUS_IGNORE);
    MPI_Request& other = requests[index == 0 ? 1 : 0];
    MPI_Cancel(&other);
    MPI_Wait(&other, MPI_STATUS_IGNORE);
    return kChoice + index;
  }
  int flag = 0;
  while (way == "iprobe" && flag == 0) {
    MPI_Iprobe(MPI_ANY_SOURCE, kChoice + 1, comm, &flag, &status);
    if (flag == 0) MPI_Iprobe(MPI_ANY_SOURCE, kChoice, comm, &flag, &status);
  }
  if (way == "probe") MPI_Probe(0, MPI_ANY_TAG, comm, &status);
  MPI_Recv(nullptr, 0, MPI_BYTE, 0, status.MPI_TAG, comm, MPI_STATUS_IGNORE);
  return status.MPI_TAG;
}

void hear_of_choice(bool is_again) {
  // It is ready, and waits for rank 3.
  for (int i = 0; i < 100 && !is_again; ++i) {
    (void)check::complete_checkpoints();
    usleep(1000);
  }
  const int heard = is_collective() ? operate(0) : tag_that_comes();
  int count = 0;
  success(Fenix_Checkpoint_count(&count), "Fenix_Checkpoint_count");
  require(count == 0 || is_again, "rank 1 logs yet when it hears of the choice");
  MPI_Send(&heard, 1, MPI_INT, 0, kEnd, comm);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 1, 0, MPI_INFO_NULL, &error);
  int rank = 0;
  int time_stamp = FENIX_CHECKPOINT_NONE;
  MPI_Comm_rank(comm, &rank);
  require(argc > 1, "a way");
  way = argv[1];
  success(Fenix_Data_group_create(kGroup, comm, 0, 1, FENIX_DATA_POLICY_IN_MEMORY_RAID, nullptr, nullptr),
          "group_create");
  success(Fenix_Data_member_define(kGroup, kPlaceMember, &place, 1, MPI_INT), "member_define");
  MPI_Comm_split(comm, rank < 2 ? 0 : MPI_UNDEFINED, rank, &pair);
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
    check::await_checkpoints(1);
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
