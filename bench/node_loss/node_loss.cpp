// SPDX-License-Identifier: BSD-3-Clause
// Exchanges the bytes of a member by MPI_Sendrecv, stores them, says "ready", and is to lose a node then. Prints one line of JSON:
// seconds of the slowest rank, for each part of what follows.
// usage: node_loss POLICY BYTES SPARES
#include <fenix.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "../cpu_time.hpp"
#include "policy.hpp"

using fenix_bench::cpu_time;

namespace {

constexpr int kGroup = 1;
constexpr int kMember = 1;
constexpr int kExchanges = 7;
constexpr int kWarmup = 2;

// They outlive the jump back into Fenix_Init.
MPI_Comm comm = MPI_COMM_NULL;
std::vector<unsigned char> data;

void check(int code, const char* what) {
  if (code == FENIX_SUCCESS) return;
  std::fprintf(stderr, "node_loss: %s: %d [%s]\n", what, code, Fenix_Error_message());
  MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

int rank_in(MPI_Comm of) {
  int rank = 0;
  MPI_Comm_rank(of, &rank);
  return rank;
}

double slowest(double seconds) {
  double most = 0;
  MPI_Allreduce(&seconds, &most, 1, MPI_DOUBLE, MPI_MAX, comm);
  return most;
}

/// Seconds of the slowest rank, and of all cores in all ranks.
struct Cost {
  double time = 0;
  double cpu = 0;
};

/// The ranks begin together.
template <class Work>
Cost cost_of(Work&& work) {
  MPI_Barrier(comm);
  const double start = MPI_Wtime();
  const double cpu_before = cpu_time();
  work();
  const double mine = MPI_Wtime() - start;
  double cpu = cpu_time() - cpu_before;
  MPI_Allreduce(MPI_IN_PLACE, &cpu, 1, MPI_DOUBLE, MPI_SUM, comm);
  return {slowest(mine), cpu};
}

unsigned char byte_of(int rank, std::size_t at) {
  return static_cast<unsigned char>(at * 31 + at / 4096 + static_cast<std::size_t>(rank) * 7);
}

/// Median of the time in which each rank gets the bytes of the rank that is half of all ranks away.
Cost exchange() {
  int size = 0;
  MPI_Comm_size(comm, &size);
  const int rank = rank_in(comm);
  const int distance = std::max(1, size / 2);
  std::vector<unsigned char> other(data.size());
  std::vector<Cost> costs;
  for (int i = 0; i < kWarmup + kExchanges; ++i) {
    const Cost once = cost_of([&] {
      MPI_Sendrecv(data.data(), static_cast<int>(data.size()), MPI_BYTE, (rank + distance) % size, 0, other.data(),
                   static_cast<int>(other.size()), MPI_BYTE, (rank + size - distance) % size, 0, comm,
                   MPI_STATUS_IGNORE);
    });
    if (i >= kWarmup) costs.push_back(once);
  }
  std::sort(costs.begin(), costs.end(), [](const Cost& one, const Cost& two) { return one.time < two.time; });
  return costs[costs.size() / 2];
}

Cost take_group(bench::Policy policy) {
  return cost_of([&] {
    int flag = 0;
    check(Fenix_Data_group_create(kGroup, comm, 0, 0, policy.name,
                                  policy.values.empty() ? nullptr : policy.values.data(), &flag),
          "Fenix_Data_group_create");
  });
}

void begin(bench::Policy policy) {
  const int rank = rank_in(comm);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = byte_of(rank, i);
  const Cost messages = exchange();
  (void)take_group(policy);
  check(Fenix_Data_member_create(kGroup, kMember, data.data(), static_cast<int>(data.size()), MPI_BYTE),
        "Fenix_Data_member_create");
  check(Fenix_Data_member_store(kGroup, kMember, FENIX_DATA_SUBSET_FULL), "Fenix_Data_member_store");
  check(Fenix_Data_commit_barrier(kGroup, nullptr), "Fenix_Data_commit_barrier");
  // Replacements know nothing of it. Which rank prints it does not matter: it is on the first line.
  if (rank == 0) std::printf("{\"sendrecv\": %.9f, \"sendrecv_cpu\": %.9f}\nready\n", messages.time, messages.cpu);
  std::fflush(stdout);
  // Ends in the repair, and from there in Fenix_Init.
  while (true) MPI_Barrier(comm);
}

void recover(bench::Policy policy, int role) {
  double noticed = 0;
  double repaired = 0;
  if (role == FENIX_ROLE_SURVIVOR_RANK)
    check(Fenix_Process_repair_times(&noticed, &repaired), "Fenix_Process_repair_times");
  const double repair = slowest(repaired - noticed);
  const Cost group = take_group(policy);
  const Cost restore = cost_of([&] {
    check(Fenix_Data_member_restore(kGroup, kMember, data.data(), static_cast<int>(data.size()),
                                    FENIX_DATA_SNAPSHOT_LATEST, FENIX_DATA_SUBSET_IGNORE),
          "Fenix_Data_member_restore");
  });
  const int rank = rank_in(comm);
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (data[i] == byte_of(rank, i)) continue;
    std::fprintf(stderr, "node_loss: byte %zu of rank %d is wrong\n", i, rank);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  if (rank == 0) {
    std::printf("{\"repair\": %.9f, \"group\": %.9f, \"group_cpu\": %.9f, \"restore\": %.9f, \"restore_cpu\": %.9f}\n",
                repair, group.time, group.cpu, restore.time, restore.cpu);
  }
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const auto policy = argc == 4 ? bench::parse_policy(argv[1]) : std::nullopt;
  if (!policy) {
    std::fprintf(stderr, "usage: node_loss POLICY BYTES SPARES\n");
    return 2;
  }
  data.resize(static_cast<std::size_t>(std::atoll(argv[2])));
  int role = -1;
  int error = -1;
  MPI_Init(&argc, &argv);
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, std::atoi(argv[3]), &error);
  check(error, "Fenix_Init");
  if (role == FENIX_ROLE_INITIAL_RANK) begin(*policy);
  recover(*policy, role);
  check(Fenix_Finalize(), "Fenix_Finalize");
  MPI_Finalize();
  return EXIT_SUCCESS;
}
