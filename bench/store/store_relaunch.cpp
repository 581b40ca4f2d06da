// SPDX-License-Identifier: BSD-3-Clause
// The job of bench/store/relaunch. The first run stores and commits, writes "ready", and waits for its end. A later one writes "restored S",
// where S is the time of CLOCK_MONOTONIC in seconds when the slowest rank has its data back. Usage: store_relaunch BYTES, of a rank.
#include <fenix.h>
#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace {

constexpr int kGroup = 3;
constexpr int kMember = 0;

void check(int code, const char* call) {
  if (code >= 0) return;
  std::fprintf(stderr, "store_relaunch: %s: %s\n", call, Fenix_Error_message());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

// fenix-run always sets it.
bool keeps_nothing() {
  const char* const seconds = std::getenv("FENIX_KEEP");
  return seconds == nullptr || std::atoi(seconds) == 0;
}

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

int main(int argc, char** argv) {
  constexpr std::chrono::seconds kForTheKill{60};
  MPI_Init(&argc, &argv);
  int role = 0;
  int error = 0;
  MPI_Comm comm = MPI_COMM_NULL;
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 0, 0, MPI_INFO_NULL, &error);
  check(error, "Fenix_Init");
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  const auto bytes = static_cast<std::size_t>(argc > 1 ? std::strtoull(argv[1], nullptr, 0) : 1U << 26U);
  std::vector<char> data(bytes, 0);
  int values[] = {1, 1};
  int flag = 0;
  check(Fenix_Data_group_create(kGroup, comm, 0, 0, FENIX_DATA_POLICY_IMR, values, &flag), "group_create");
  check(Fenix_Data_member_define(kGroup, kMember, data.data(), static_cast<int>(bytes), MPI_CHAR), "member_define");
  if (flag == FENIX_WARNING_RESUMED) {
    check(Fenix_Data_member_restore(kGroup, kMember, data.data(), static_cast<int>(bytes), FENIX_DATA_SNAPSHOT_LATEST,
                                    FENIX_DATA_SUBSET_IGNORE),
          "restore");
    double restored = now();
    // Each byte is that of the rank.
    if (data.front() != rank + 1 || std::memcmp(data.data(), data.data() + 1, bytes - 1) != 0) {
      std::fprintf(stderr, "store_relaunch: rank %d has wrong data\n", rank);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Allreduce(MPI_IN_PLACE, &restored, 1, MPI_DOUBLE, MPI_MAX, comm);
    if (rank == 0) std::printf("restored %.6f\n", restored);
  } else {
    std::memset(data.data(), rank + 1, bytes);
    check(Fenix_Data_member_store(kGroup, kMember, FENIX_DATA_SUBSET_FULL), "store");
    check(Fenix_Data_commit_barrier(kGroup, nullptr), "commit_barrier");
    if (keeps_nothing()) {
      check(Fenix_Data_flush(kGroup, FENIX_DATA_SNAPSHOT_LATEST, nullptr), "flush");
    }
    if (rank == 0) std::printf("ready\n");
    std::fflush(stdout);
    std::this_thread::sleep_for(kForTheKill);
  }
  std::fflush(stdout);
  Fenix_Finalize();
  MPI_Finalize();
  return 0;
}
