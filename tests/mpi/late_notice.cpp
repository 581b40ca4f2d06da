// SPDX-License-Identifier: BSD-3-Clause
// A death that one operation could do without is repaired by the next. 5 ranks store, commit and compute, and die one after the
// other while they compute: what the others then find in the memory of the dead is often all that they were waiting for.
#include <chrono>
#include <csignal>
#include <thread>

#include "check.hpp"

namespace {

using check::success;

constexpr int kGroup = 1;
constexpr int kDeaths = 9;
constexpr int kRanks = 5;
constexpr int kSteps = 4;
constexpr int kDepth = 3;

MPI_Comm comm = MPI_COMM_NULL;
int role = -1;
int error = -1;
int rank = -1;
long step = 0;

// Each rank stores another value in each snapshot: time stamp × kRanks + rank.
void check_restored() {
  check::expect_equal(step % kRanks, rank, "the rank that has stored the value restored");
  int time_stamp = -1;
  success(Fenix_Data_group_get_snapshot_at_position(kGroup, 0, &time_stamp), "snapshot_at_position");
  check::expect_equal(step / kRanks, time_stamp, "the step restored");
  long least = step / kRanks;
  long most = least;
  MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_LONG, MPI_MIN, comm);
  MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_LONG, MPI_MAX, comm);
  check::expect_equal(least, most, "the steps that ranks have restored");
}

void store() {
  step += kRanks;
  success(Fenix_Data_member_store(kGroup, 0, FENIX_DATA_SUBSET_FULL), "store");
}

/// As an application computes, without a call of MPI.
void compute() { std::this_thread::sleep_for(std::chrono::milliseconds(10)); }

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, kDeaths, &error);
  MPI_Comm_rank(comm, &rank);
  success(Fenix_Data_group_create(kGroup, comm, 0, kDepth, FENIX_DATA_POLICY_IMR, nullptr, nullptr), "group_create");
  if (role == FENIX_ROLE_INITIAL_RANK) {
    step = rank - kRanks;
    success(Fenix_Data_member_create(kGroup, 0, &step, 1, MPI_LONG), "member_create");
  } else {
    success(Fenix_Data_member_attr_set(kGroup, 0, FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER, &step, nullptr), "attr_set");
    success(Fenix_Data_member_restore(kGroup, 0, &step, 1, FENIX_DATA_SNAPSHOT_LATEST, nullptr), "restore");
    check_restored();
  }
  store();
  success(Fenix_Data_commit_barrier(kGroup, nullptr), "commit_barrier");
  const int repairs = kDeaths - Fenix_get_nspare();
  if (repairs == kDeaths) {
    success(Fenix_Finalize(), "Fenix_Finalize");
    check::ok(rank);
    MPI_Finalize();
    return 0;
  }
  for (int steps = 0; true; ++steps) {
    compute();
    if (rank == repairs % kRanks && steps == kSteps) raise(SIGKILL);
    if (steps == kSteps) compute();
    store();
    success(Fenix_Data_commit(kGroup, nullptr), "commit");
  }
}
