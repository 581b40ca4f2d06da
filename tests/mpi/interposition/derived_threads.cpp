// SPDX-License-Identifier: BSD-3-Clause
// Three threads of each rank work on derived communicators of their own at the same time, under MPI_THREAD_MULTIPLE. newcomm is NULL.
// Rank 1 of 4 dies; one thread repairs, the others stop, and all go on with the handles that they have had.
// usage: derived_threads jump|return [nokill|request]
//   request: the thread of Fenix_Init waits for a request when another thread has repaired (with jump)
#include <unistd.h>

#include <array>
#include <atomic>
#include <climits>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "../check.hpp"
#include "comms.hpp"

namespace {

constexpr int kThreads = 3;
constexpr int kSteps = 200;
constexpr int kFatalStep = 60;
constexpr int kVictim = 1;

int role = -1;
int error = -1;
int process = -1;
bool kills = true;
bool jumps = false;
bool has_request = false;
std::array<MPI_Comm, kThreads> comms{};
std::array<MPI_Comm, kThreads> first{};
std::array<std::atomic<int>, kThreads> steps{};
std::atomic<int> repairs_begun = 0;
std::atomic<int> repairs_done = 0;
std::vector<std::thread> threads;  // not of a function: it may be left by longjmp

void note_beginning(MPI_Comm, int, void*) { ++repairs_begun; }

void note_end(MPI_Comm, int, void*) { ++repairs_done; }

/// Works until a call fails, or a repair begins. A thread that is in no call then is not told of it by a call.
void work(int number) {
  const int repairs = repairs_begun;
  const auto at = static_cast<std::size_t>(number);
  const int rank = rank_in(comms[at]);
  while (steps[at] < kSteps && repairs == repairs_begun) {
    const int step = steps[at];
    if (kills && process == kVictim && number == 1 && step == kFatalStep) raise(SIGKILL);
    const int value = rank + 10 * step + number;
    int sum = -1;
    const int code = MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comms[at]);
    if (code != MPI_SUCCESS) {
      check::require(is_failure(code), "an error that tells of no failure");
      check::require(!jumps || number != 0, "a call of the thread of Fenix_Init has returned with an error");
      return;
    }
    check::expect_equal(sum, 6 + 4 * (10 * step + number), "sum of thread " + std::to_string(number));
    ++steps[at];
  }
}

/// Control goes to Fenix_Init, though this thread is in no call when another one repairs.
void wait_for_request() {
  int value = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(&value, 1, MPI_INT, kVictim, 0, comms[0], &request);
  while (repairs_done == 0) usleep(1000);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check::fail("MPI_Wait has returned");
}

/// Each thread has a duplicate, or one half of it in reverse order, with a topology.
void make_communicators() {
  const int periods = 1;
  const int dims = 4;
  check::success(MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]), "MPI_Comm_dup");
  check::success(MPI_Comm_split(comms[0], 0, rank_in(MPI_COMM_WORLD), &comms[1]), "MPI_Comm_split");
  check::success(MPI_Cart_create(MPI_COMM_WORLD, 1, &dims, &periods, 0, &comms[2]), "MPI_Cart_create");
  if (first[0] == MPI_COMM_NULL) first = comms;
  check::require(comms == first, "a communicator has another handle");
}

/// Returns false if a rank has died meanwhile.
bool run() {
  std::array<int, kThreads> agreed{};
  for (std::size_t i = 0; i < kThreads; ++i)
    agreed[i] = role == FENIX_ROLE_RECOVERED_RANK && steps[i] == 0 ? INT_MAX : steps[i].load();
  if (MPI_Allreduce(MPI_IN_PLACE, agreed.data(), kThreads, MPI_INT, MPI_MIN, MPI_COMM_WORLD) != MPI_SUCCESS)
    return false;
  for (std::size_t i = 0; i < kThreads; ++i) steps[i] = agreed[i];
  if (agreed == std::array{kSteps, kSteps, kSteps}) return true;
  for (int number = 1; number < kThreads; ++number) threads.emplace_back(work, number);
  if (has_request && role == FENIX_ROLE_INITIAL_RANK) wait_for_request();
  work(0);
  return false;
}

void join_all() {
  for (std::thread& thread : threads) thread.join();
  threads.clear();
}

}  // namespace

int main(int argc, char** argv) {
  jumps = std::string(argv[1]) == "jump";
  has_request = argc > 2 && std::string(argv[2]) == "request";
  kills = argc <= 2 || std::string(argv[2]) != "nokill";
  comms.fill(MPI_COMM_NULL);
  first.fill(MPI_COMM_NULL);
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  check::expect_equal(level, MPI_THREAD_MULTIPLE, "thread level");
  process = rank_in(MPI_COMM_WORLD);
  if (!jumps) Fenix_set_option(FENIX_RESUME_MODE, FENIX_RESUME_RETURN);
  Fenix_Init(&role, MPI_COMM_WORLD, nullptr, &argc, &argv, 1, &error);
  check::success(error, "Fenix_Init");
  join_all();
  static bool registered = false;
  if (!registered) {
    Fenix_Callback_register_at(note_beginning, nullptr, FENIX_CALLBACK_PRE_RECOVERY);
    Fenix_Callback_register(note_end, nullptr);
  }
  registered = true;
  if (jumps || role != FENIX_ROLE_SURVIVOR_RANK) make_communicators();
  while (!run()) join_all();
  if (kills) {
    check::require(role != FENIX_ROLE_INITIAL_RANK, "nobody has died");
    check::require(role == FENIX_ROLE_RECOVERED_RANK || repairs_begun == 1, "not one repair");
    check::require(comms == first, "a communicator has another handle");
  }
  check::success(Fenix_Finalize(), "Fenix_Finalize");
  check::ok(rank_in(MPI_COMM_WORLD));
  MPI_Finalize();
  return 0;
}
