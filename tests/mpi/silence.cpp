// SPDX-License-Identifier: BSD-3-Clause
// A rank that is stopped for longer than FENIX_TIMEOUT, by FENIX_FAULT=point:rank:count:stop, while nobody dies. The others
// get an error in time, as often as they try. When the rank goes on, all take up the group again, and nothing that was
// committed is lost or harmed.
//
// usage: silence RANK | silence network STEPS none|any
//
// With "network" nobody is stopped. Another program disturbs the network meanwhile, and no errors or any errors may come.
#include <fenix.h>
#include <mpi.h>

#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "check.hpp"

namespace {

constexpr int kGroup = 3;
constexpr int kMember = 0;
constexpr int kPauseMs = 100;    // after a step, for who does something to the network
constexpr double kPatience = 6;  // of the fabric path, in seconds, if a peer cannot be reached
constexpr int kTimeouts = 2;     // how often an error has to come before the stopped rank is woken
constexpr std::size_t kElements = 50'000;

using Clock = std::chrono::steady_clock;

int rank = -1;
int silent = -1;  // none: it is the network
int steps = 8;
MPI_Comm comm = MPI_COMM_NULL;
std::vector<int> pids;
std::vector<std::uint64_t> pid_spaces;  // in which they count: each node has one
int timeouts = 0;
int committed = -1;  // the newest time stamp that is on all ranks, as known here
std::vector<std::int64_t> data(kElements);

double allowed() { return std::atof(std::getenv("FENIX_TIMEOUT")); }

std::int64_t value(int step, std::size_t i) {
  return (step * 1000LL + rank) * 1'000'003 + static_cast<std::int64_t>(i);
}

// Returns the rank that wakes the silent one.
int waker() {
  const auto ranks = static_cast<int>(pids.size());
  int other = (silent + 1) % ranks;
  while (pid_spaces[static_cast<std::size_t>(other)] != pid_spaces[static_cast<std::size_t>(silent)]) {
    other = (other + 1) % ranks;
  }
  return other;
}

// True if the call went well, false if it took too long for somebody.
bool in_time(const char* call, Clock::time_point start, int code) {
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  if (code == FENIX_SUCCESS) return true;
  check::expect_equal(code, FENIX_ERROR_TIMEOUT, call);
  ++timeouts;
  check::require(rank == silent || seconds < 2 * allowed() + (silent < 0 ? kPatience : 1),
                 std::string(call) + " took " + std::to_string(seconds) + " s");
  if (silent < 0) {
    std::printf("rank %d: %s after %.1f s: %s\n", rank, call, seconds, Fenix_Error_message());
    std::fflush(stdout);
    return false;
  }
  // More than once: on a loaded machine errors may come before the rank has stopped.
  if (rank == waker() && timeouts >= kTimeouts) kill(pids[static_cast<std::size_t>(silent)], SIGCONT);
  return false;
}

#define IN_TIME(call)                   \
  [&] {                                 \
    const auto start = Clock::now();    \
    return in_time(#call, start, call); \
  }()

bool take_up() {
  int flag = 0;
  if (!IN_TIME(Fenix_Data_group_create(kGroup, comm, 0, 1, FENIX_DATA_POLICY_IN_MEMORY_RAID, nullptr, &flag)))
    return false;
  check::expect_equal(flag, FENIX_SUCCESS, "flag of group_create");
  if (Fenix_Data_member_created(kGroup, kMember) != 1 &&
      !IN_TIME(Fenix_Data_member_create(kGroup, kMember, data.data(), static_cast<int>(kElements), MPI_INT64_T))) {
    return false;
  }
  return true;
}

// The step to go on with; -1 if it took too long.
int restore() {
  int count = 0;
  check::success(Fenix_Data_group_get_number_of_snapshots(kGroup, &count), "number of snapshots");
  if (count == 0) {
    check::require(committed < 0, "time stamp " + std::to_string(committed) + " is lost");
    return 0;
  }
  int newest = -1;
  check::success(Fenix_Data_group_get_snapshot_at_position(kGroup, 0, &newest), "snapshot at position 0");
  check::require(newest >= committed,
                 "time stamp " + std::to_string(committed) + " is lost, " + std::to_string(newest) + " is there");
  if (!IN_TIME(Fenix_Data_member_restore(kGroup, kMember, data.data(), static_cast<int>(kElements), newest, nullptr))) {
    return -1;
  }
  for (std::size_t i = 0; i < kElements; ++i) {
    if (data[i] != value(newest, i)) check::fail("wrong element " + std::to_string(i));
  }
  return newest + 1;
}

bool one_step(int step) {
  for (std::size_t i = 0; i < kElements; ++i) data[i] = value(step, i);
  int stamp = -1;
  if (!IN_TIME(Fenix_Data_member_store(kGroup, kMember, FENIX_DATA_SUBSET_FULL))) return false;
  if (!IN_TIME(Fenix_Data_commit_barrier(kGroup, &stamp))) return false;
  check::expect_equal(stamp, step, "time stamp");
  committed = step;
  if (silent < 0) {
    if (rank == 0) std::printf("step %d\n", step);
    std::fflush(stdout);
    std::this_thread::sleep_for(std::chrono::milliseconds(kPauseMs));
  }
  // What everybody waits for is a meeting of all.
  return step % 3 != 0 ||
         IN_TIME(Fenix_Data_member_restore(kGroup, kMember, data.data(), static_cast<int>(kElements), stamp, nullptr));
}

bool run() {
  if (!take_up()) return false;
  int step = restore();
  if (step < 0) return false;
  for (; step < steps; ++step) {
    if (!one_step(step)) return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const bool network = std::string(argv[1]) == "network";
  silent = network ? -1 : std::atoi(argv[1]);
  if (network) steps = std::atoi(argv[2]);
  int role = 0;
  int error = 0;
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 0, 0, MPI_INFO_NULL, &error);
  check::success(error, "Fenix_Init");
  MPI_Comm_rank(comm, &rank);
  int size = 0;
  MPI_Comm_size(comm, &size);
  pids.resize(static_cast<std::size_t>(size));
  const int pid = getpid();
  MPI_Allgather(&pid, 1, MPI_INT, pids.data(), 1, MPI_INT, comm);
  struct stat space {};
  check::expect_equal(stat("/proc/self/ns/pid", &space), 0, "stat");
  const std::uint64_t own_space = space.st_ino;
  pid_spaces.resize(pids.size());
  MPI_Allgather(&own_space, 1, MPI_UINT64_T, pid_spaces.data(), 1, MPI_UINT64_T, comm);
  while (!run()) {
  }
  while (!IN_TIME(Fenix_Finalize())) {
  }
  // A rank that began to wait later than the waker may have seen one less.
  check::require(network || rank == silent || timeouts >= kTimeouts - 1,
                 "there were only " + std::to_string(timeouts) + " errors");
  check::require(!network || std::string(argv[3]) == "any" || timeouts == 0,
                 "there were " + std::to_string(timeouts) + " errors");
  check::ok(rank);
  MPI_Finalize();
  return 0;
}
