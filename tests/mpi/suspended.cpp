// SPDX-License-Identifier: BSD-3-Clause
// All processes of the job are stopped for a multiple of FENIX_TIMEOUT, as schedulers do, while they wait for one of them.
// They stop and go on one after the other. Nobody may be killed for it, and no call may fail.
//
// usage: suspended commit | repair; 1 spare. With "repair", rank 1 has died, and its replacement is a process that was stopped
// while it waited as a spare.
#include <fcntl.h>
#include <fenix.h>
#include <mpi.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "check.hpp"

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr int kTimeouts = 3;  // for so long all are stopped: any wait would have ended
constexpr int kLateRank = 2;  // for which the others wait
constexpr int kGroup = 1;
constexpr int kElements = 1000;

MPI_Comm comm = MPI_COMM_NULL;
int role = -1;
int error = -1;
int rank = -1;
int wakes_suspender = -1;  // the end of a pipe
std::vector<long> data(kElements);

double timeout() { return std::atof(std::getenv("FENIX_TIMEOUT")); }

// Of first rank 0: a child that is no rank.
void suspend_when_told(int told, const std::vector<int>& pids) {
  char word = 0;
  if (read(told, &word, 1) != 1) _exit(1);
  std::this_thread::sleep_for(milliseconds(300));  // the others come to the wait
  for (const int pid : pids) {
    kill(pid, SIGSTOP);
    std::this_thread::sleep_for(milliseconds(100));
  }
  std::this_thread::sleep_for(std::chrono::duration<double>(kTimeouts * timeout()));
  for (const int pid : pids) {
    kill(pid, SIGCONT);
    std::this_thread::sleep_for(milliseconds(100));
  }
  _exit(0);
}

void make_suspender() {
  const int pid = getpid();
  int first_rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &first_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::vector<int> pids(static_cast<std::size_t>(size));
  MPI_Allgather(&pid, 1, MPI_INT, pids.data(), 1, MPI_INT, MPI_COMM_WORLD);
  // The late rank tells it, through a file of its parent.
  int ends[2] = {-1, -1};
  if (first_rank == 0 && pipe(ends) != 0) check::fail("pipe");
  MPI_Bcast(ends, 2, MPI_INT, 0, MPI_COMM_WORLD);
  if (first_rank == 0 && fork() == 0) suspend_when_told(ends[0], pids);
  if (first_rank == kLateRank) {
    const std::string path = "/proc/" + std::to_string(pids[0]) + "/fd/" + std::to_string(ends[1]);
    wakes_suspender = open(path.c_str(), O_WRONLY);
    check::require(wakes_suspender >= 0, "cannot open " + path);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

// Returns when this process has been stopped, and goes on.
void be_late() {
  const char word = 1;
  check::expect_equal(write(wakes_suspender, &word, 1), 1, "write");
  for (auto before = Clock::now();;) {
    const auto now = Clock::now();
    if (now - before > std::chrono::duration<double>(timeout())) return;
    before = now;
    std::this_thread::sleep_for(milliseconds(1));
  }
}

void one_step(int step, bool is_late) {
  for (long& each : data) each = step * 100L + rank;
  check::success(Fenix_Data_member_store(kGroup, 0, FENIX_DATA_SUBSET_FULL), "store");
  if (is_late) be_late();
  check::success(Fenix_Data_commit_barrier(kGroup, nullptr), "commit_barrier");
}

void look_at_latest(int step) {
  data.assign(kElements, -1);
  check::success(Fenix_Data_member_restore(kGroup, 0, data.data(), kElements, FENIX_DATA_SNAPSHOT_LATEST, nullptr),
                 "restore");
  for (const long each : data) check::expect_equal(each, step * 100L + rank, "an element");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const bool is_repair = std::string(argv[1]) == "repair";
  make_suspender();
  Fenix_set_option(FENIX_RESUME_MODE, FENIX_RESUME_RETURN);
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 1, &error);
  MPI_Comm_rank(comm, &rank);
  const auto take_up = [] {
    check::success(Fenix_Data_group_create(kGroup, comm, 0, 0, FENIX_DATA_POLICY_IMR, nullptr, nullptr),
                   "group_create");
    if (Fenix_Data_member_created(kGroup, 0) == 1) return;
    check::success(Fenix_Data_member_create(kGroup, 0, data.data(), kElements, MPI_LONG), "member_create");
  };
  take_up();
  if (role == FENIX_ROLE_INITIAL_RANK) {
    one_step(1, !is_repair && rank == kLateRank);
    if (is_repair) {
      if (rank == 1) raise(SIGKILL);
      if (rank == kLateRank) be_late();
      check::require(MPI_Barrier(comm) != MPI_SUCCESS, "a barrier without rank 1 does not fail");
      take_up();
    }
  }
  look_at_latest(1);
  one_step(2, false);
  look_at_latest(2);
  check::expect_equal(role == FENIX_ROLE_INITIAL_RANK ? 0 : 1, is_repair ? 1 : 0, "whether there was a repair");
  int size = 0;
  MPI_Comm_size(comm, &size);
  check::expect_equal(size, 4, "number of ranks");
  check::success(Fenix_Finalize(), "Fenix_Finalize");
  check::ok(rank);
  MPI_Finalize();
  return 0;
}
