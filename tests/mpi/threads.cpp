// SPDX-License-Identifier: BSD-3-Clause
// Two threads of each rank work on groups of their own at the same time, under MPI_THREAD_MULTIPLE. A death is repaired once;
// calls of both threads come back, and both take up their groups again.
#include <atomic>
#include <csignal>
#include <cstring>
#include <thread>
#include <vector>

#include "check.hpp"

namespace {

using check::expect_equal;
using check::require;
using check::success;

constexpr int kCount = 5000;
constexpr int kSteps = 40;
constexpr int kThreads = 2;

MPI_Comm comm = MPI_COMM_NULL;
int rank = -1;
int role = -1;
int error = 0;
int first_rank = -1;
std::atomic<int> killed_at{-1};
std::atomic<int> repairs{0};

void count_repair(MPI_Comm, int, void*) { ++repairs; }

/// One thread's work. Each has a communicator of its own: collective calls of different threads must not meet.
class Worker {
 public:
  explicit Worker(int number) : number_(number) {}

  [[nodiscard]] bool done() const { return done_; }

  void begin(MPI_Comm own) {
    comm_ = own;
    success(Fenix_Data_group_create(number_, comm_, 0, 0, FENIX_DATA_POLICY_IMR, nullptr, nullptr), "group_create");
    success(Fenix_Data_member_define(number_, 0, values_.data(), kCount, MPI_LONG), "member_define");
    success(Fenix_Data_member_define(number_, 1, &step_, 1, MPI_LONG), "member_define");
    long found = -1;
    const int code = Fenix_Data_member_restore(number_, 1, &found, 1, FENIX_DATA_SNAPSHOT_LATEST, nullptr);
    if (code == FENIX_ERROR_NODATA_FOUND) return;
    success(code, "restore");
    success(Fenix_Data_member_restore(number_, 0, FENIX_DATA_RESTORE_INPLACE, FENIX_DATA_RESTORE_FULL,
                                      FENIX_DATA_SNAPSHOT_LATEST, nullptr),
            "restore");
    for (int i = 0; i < kCount; ++i) expect_equal(values_[at(i)], value(found, i), "a restored element");
    step_ = found + 1;
  }

  void work() {
    while (step_ < kSteps) {
      if (first_rank == killed_at && step_ == 15 && number_ == 1) raise(SIGKILL);
      for (int i = 0; i < kCount; ++i) values_[at(i)] = value(step_, i);
      const int codes[] = {Fenix_Data_member_store(number_, FENIX_DATA_MEMBER_ALL, FENIX_DATA_SUBSET_FULL),
                           Fenix_Data_commit_barrier(number_, nullptr)};
      for (const int code : codes) {
        if (code == FENIX_ERROR_CANCELLED || code == FENIX_ERROR_INVALID_LOGIC_CALL) return;
        success(code, "store or commit");
      }
      ++step_;
    }
    done_ = true;
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  [[nodiscard]] long value(long step, int i) const { return ((step * 7 + number_) * 11 + rank) * 100'000 + i; }

  int number_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  long step_ = 0;
  std::vector<long> values_ = std::vector<long>(kCount);
  bool done_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  expect_equal(level, MPI_THREAD_MULTIPLE, "thread level");
  MPI_Comm_rank(MPI_COMM_WORLD, &first_rank);
  const bool kill = argc < 2 || std::strcmp(argv[1], "--no-kill") != 0;
  if (kill) killed_at = 1;
  Fenix_set_option(FENIX_RESUME_MODE, FENIX_RESUME_RETURN);
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, kill ? 1 : 0, &error);
  Fenix_Callback_register(count_repair, nullptr);

  std::vector<Worker> workers;
  for (int i = 0; i < kThreads; ++i) workers.emplace_back(i + 1);
  int all_done = 0;
  while (all_done == 0) {
    const int repairs_before = repairs;
    MPI_Comm_rank(comm, &rank);
    for (Worker& worker : workers) {
      MPI_Comm own = MPI_COMM_NULL;
      success(MPI_Comm_dup(comm, &own), "MPI_Comm_dup");
      worker.begin(own);
    }
    std::vector<std::thread> threads;
    for (Worker& worker : workers) threads.emplace_back([&] { worker.work(); });
    for (std::thread& thread : threads) thread.join();
    int mine = 1;
    for (const Worker& worker : workers) mine = mine != 0 && worker.done() ? 1 : 0;
    // The rank that has come new begins at the top.
    if (repairs != repairs_before) continue;
    if (MPI_Allreduce(&mine, &all_done, 1, MPI_INT, MPI_MIN, comm) != MPI_SUCCESS) all_done = 0;
  }
  if (kill) require(role != FENIX_ROLE_INITIAL_RANK, "no failure was repaired");
  success(Fenix_Finalize(), "Fenix_Finalize");
  check::ok(rank);
  MPI_Finalize();
  return 0;
}
