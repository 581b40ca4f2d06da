// SPDX-License-Identifier: BSD-3-Clause
// A rank dies instead of making a collective call. Without the mend coll-base-1, others get MPI_SUCCESS and wrong data; of bcast, errors or nothing.
//
// mpirun --with-ft ulfm -n 6 dropped_errors allgatherv|reduce_scatter|inter_gather|inter_reduce
// mpirun --with-ft ulfm -n 6 --mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_bcast_algorithm 4 dropped_errors bcast
#include <mpi.h>
#include <signal.h>
#include <unistd.h>
#include <mpi-ext.h>

#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

namespace {

constexpr int kEach = 7;

struct Result {
  int error;
  bool is_right;
};

bool are_all(const std::vector<int>& found, int wanted) {
  for (const int each : found) {
    if (each != wanted) return false;
  }
  return true;
}

Result allgatherv(int rank, int size) {
  const std::vector<int> own(kEach, rank + 1);
  const std::vector<int> counts(static_cast<std::size_t>(size), kEach);
  std::vector<int> places(counts.size());
  for (int i = 0; i < size; ++i) places[static_cast<std::size_t>(i)] = i * kEach;
  std::vector<int> all(counts.size() * kEach);
  const int error =
      MPI_Allgatherv(own.data(), kEach, MPI_INT, all.data(), counts.data(), places.data(), MPI_INT, MPI_COMM_WORLD);
  return {error, std::accumulate(all.begin(), all.end(), 0) == kEach * size * (size + 1) / 2};
}

Result reduce_scatter(int size) {
  const std::vector<int> counts(static_cast<std::size_t>(size), kEach);
  const std::vector<int> own(counts.size() * kEach, 1);
  std::vector<int> sum(kEach);
  const int error = MPI_Reduce_scatter(own.data(), sum.data(), counts.data(), MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return {error, are_all(sum, size)};
}

Result bcast(int rank) {
  std::vector<int> data(kEach, rank == 0 ? 1 : 0);
  const int error = MPI_Bcast(data.data(), kEach, MPI_INT, 0, MPI_COMM_WORLD);
  return {error, are_all(data, 1)};
}

// The first half of the ranks gets what the others have. The root is rank 0.
Result between_groups(MPI_Comm groups, int rank, int size, bool gathers) {
  const bool receives = rank < size / 2;
  const int root = receives ? (rank == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0;
  const std::vector<int> own(kEach, 1);
  std::vector<int> all(static_cast<std::size_t>(kEach * (gathers ? size / 2 : 1)));
  const int error = gathers ? MPI_Gather(own.data(), kEach, MPI_INT, all.data(), kEach, MPI_INT, root, groups)
                            : MPI_Reduce(own.data(), all.data(), kEach, MPI_INT, MPI_SUM, root, groups);
  return {error, root != MPI_ROOT || are_all(all, gathers ? 1 : size / 2)};
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const std::string call = argc > 1 ? argv[1] : "allgatherv";
  const bool is_between_groups = call.starts_with("inter_");
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm groups = MPI_COMM_NULL;
  if (is_between_groups) {
    MPI_Comm half = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank < size / 2 ? 0 : 1, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank < size / 2 ? size / 2 : 0, 0, &groups);
    MPI_Comm_set_errhandler(groups, MPI_ERRORS_RETURN);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == (is_between_groups ? size - 1 : 0)) {
    usleep(300'000);
    raise(SIGKILL);
  }
  // A call in which another rank has failed does not end without this.
  alarm(3);
  signal(SIGALRM, [](int) { _exit(0); });
  const Result result = call == "allgatherv"       ? allgatherv(rank, size)
                        : call == "reduce_scatter" ? reduce_scatter(size)
                        : call == "bcast"          ? bcast(rank)
                                                   : between_groups(groups, rank, size, call == "inter_gather");
  const bool is_wrong = result.error == MPI_SUCCESS && !result.is_right;
  std::printf("rank %d: error %d%s\n", rank, result.error, is_wrong ? ", WRONG DATA" : "");
  std::fflush(stdout);
  sleep(4);
  _exit(0);
}
