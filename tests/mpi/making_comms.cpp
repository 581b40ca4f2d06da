// SPDX-License-Identifier: BSD-3-Clause
// Threads of each rank make communicators while rank 1 dies, and other threads meet the death: they look for communicators to revoke.
// Under MPI_THREAD_MULTIPLE; 4 ranks, one of them spare.
#include <atomic>
#include <csignal>
#include <thread>
#include <vector>

#include "check.hpp"

namespace {

using check::expect_equal;
using check::require;
using check::success;

constexpr int kThreads = 3;
constexpr int kSteps = 20;  // Open MPI crashes now and then where some 150 communicators are revoked

int role = -1;
int error = -1;
MPI_Comm comm = MPI_COMM_NULL;

// Makes communicators, and then waits for the death of a rank.
void make_some(MPI_Comm from, std::atomic<int>& steps) {
  while (steps < kSteps) {
    MPI_Comm made = MPI_COMM_NULL;
    if (MPI_Comm_split(from, 0, 0, &made) != MPI_SUCCESS) return;
    ++steps;
  }
  while (MPI_Barrier(from) == MPI_SUCCESS) std::this_thread::yield();
}

}  // namespace

int main(int argc, char** argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  expect_equal(level, MPI_THREAD_MULTIPLE, "thread level");
  Fenix_set_option(FENIX_RESUME_MODE, FENIX_RESUME_RETURN);
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 1, &error);
  int rank = -1;
  MPI_Comm_rank(comm, &rank);
  if (role == FENIX_ROLE_INITIAL_RANK) {
    std::vector<MPI_Comm> own(kThreads);
    std::vector<std::atomic<int>> steps(kThreads);
    // The last one is of this process alone.
    for (int i = 0; i < kThreads; ++i)
      MPI_Comm_split(comm, i + 1 < kThreads ? 0 : rank, 0, &own[static_cast<std::size_t>(i)]);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < own.size(); ++i) threads.emplace_back([&, i] { make_some(own[i], steps[i]); });
    while (steps[0] < kSteps / 2 || steps[1] < kSteps / 2) std::this_thread::yield();
    if (rank == 1) raise(SIGKILL);
    require(MPI_Barrier(comm) != MPI_SUCCESS, "a barrier without rank 1 does not fail");
    for (std::thread& thread : threads) thread.join();
  }
  success(MPI_Barrier(comm), "MPI_Barrier after the repair");
  success(Fenix_Finalize(), "Fenix_Finalize");
  check::ok(rank);
  MPI_Finalize();
  return 0;
}
