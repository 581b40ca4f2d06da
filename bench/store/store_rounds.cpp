// SPDX-License-Identifier: BSD-3-Clause
// One round of bench/store/measure: times of a flush and a fetch, and of other work beside a flush. Usage: store_rounds BYTES, of a rank.
// Needs FENIX_STORE. Prints "name;seconds" for each, of the slowest rank.
#include <fenix.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

namespace {

constexpr int kGroup = 3;
constexpr int kMember = 0;

void check(int code, const char* call) {
  if (code >= 0) return;
  std::fprintf(stderr, "store_rounds: %s: %s\n", call, Fenix_Error_message());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

double time_of(MPI_Comm comm, const std::function<void()>& work) {
  MPI_Barrier(comm);
  const double begin = MPI_Wtime();
  work();
  double seconds = MPI_Wtime() - begin;
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, comm);
  return seconds;
}

/// Work that stays in the first caches.
double compute(long rounds) {
  volatile double result = 0;
  double x = 1.000001;
  for (long i = 0; i < rounds; ++i) {
    for (int k = 0; k < 1000; ++k) x = x * 1.0000001 + 1e-9;
    if (x > 2) x -= 1;
  }
  result = x;
  return result;
}

/// Commits of so little data that only what the library does beside counts: alone, and with an offer to the keeper. On an idle keeper.
void measure_small(MPI_Comm comm, const std::function<void(const char*, double)>& say) {
  constexpr int kSmallGroup = 4;
  constexpr int kTimes = 50;
  constexpr std::chrono::milliseconds kForTheKeeper{20};
  std::vector<double> data(512);
  check(Fenix_Data_group_create(kSmallGroup, comm, 0, 1, FENIX_DATA_POLICY_LOCAL, nullptr, nullptr), "group_create");
  check(Fenix_Data_member_define(kSmallGroup, kMember, data.data(), static_cast<int>(data.size()), MPI_DOUBLE),
        "member_define");
  for (const bool flushes : {false, true}) {
    check(Fenix_Data_group_set_flush(kSmallGroup, flushes ? 1 : 0), "set_flush");
    std::vector<double> times;
    for (int i = 0; i < kTimes; ++i) {
      std::this_thread::sleep_for(kForTheKeeper);
      data[0] += 1;
      check(Fenix_Data_member_store(kSmallGroup, kMember, FENIX_DATA_SUBSET_FULL), "store");
      MPI_Barrier(comm);
      const double begin = MPI_Wtime();
      check(Fenix_Data_commit(kSmallGroup, nullptr), "commit");
      times.push_back(MPI_Wtime() - begin);
    }
    std::sort(times.begin(), times.end());
    say(flushes ? "commit of 4 KiB that is flushed" : "commit of 4 KiB", times[kTimes / 2]);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int role = 0;
  int error = 0;
  MPI_Comm comm = MPI_COMM_NULL;
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 0, 0, MPI_INFO_NULL, &error);
  check(error, "Fenix_Init");
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const auto bytes = static_cast<std::size_t>(argc > 1 ? std::strtoull(argv[1], nullptr, 0) : 1U << 26U);
  std::vector<double> data(bytes / sizeof(double));
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<double>(i) * 1.5 + rank;
  int values[] = {1, 1};
  check(Fenix_Data_group_create(kGroup, comm, 0, 1, ranks > 1 ? FENIX_DATA_POLICY_IMR : FENIX_DATA_POLICY_LOCAL, values,
                                nullptr),
        "group_create");
  check(Fenix_Data_member_define(kGroup, kMember, data.data(), static_cast<int>(data.size()), MPI_DOUBLE),
        "member_define");
  const auto commit = [&](double change) {
    for (double& each : data) each += change;
    return time_of(comm, [&] {
      check(Fenix_Data_member_store(kGroup, kMember, FENIX_DATA_SUBSET_FULL), "store");
      check(Fenix_Data_commit_barrier(kGroup, nullptr), "commit_barrier");
    });
  };
  const auto say = [&](const char* name, double seconds) {
    if (rank == 0) std::printf("%s;%.9f\n", name, seconds);
  };
  (void)commit(1);
  (void)commit(1);
  say("store + commit", commit(1));
  say("flush", time_of(comm, [&] { check(Fenix_Data_flush(kGroup, FENIX_DATA_SNAPSHOT_LATEST, nullptr), "flush"); }));
  const auto begin_flush = [&] {
    Fenix_Request request = FENIX_REQUEST_NULL;
    check(Fenix_Data_iflush(kGroup, FENIX_DATA_SNAPSHOT_LATEST, nullptr, &request), "iflush");
    return request;
  };
  (void)commit(1);
  Fenix_Request request = begin_flush();
  say("store + commit beside a flush", commit(1));
  check(Fenix_Data_wait(request), "wait");

  // Work of the length of half a flush.
  constexpr long kFewRounds = 2000;
  const double few = time_of(comm, [] { (void)compute(kFewRounds); });
  const auto rounds = static_cast<long>(kFewRounds * 0.2 / few);
  say("computation", time_of(comm, [&] { (void)compute(rounds); }));
  (void)commit(1);
  double took = 0;
  request = begin_flush();
  took = time_of(comm, [&] { (void)compute(rounds); });
  check(Fenix_Data_wait(request), "wait");
  say("computation beside a flush", took);
  say("iflush", time_of(comm, [&] { request = begin_flush(); }));
  check(Fenix_Data_wait(request), "wait");
  say("fetch", time_of(comm, [&] { check(Fenix_Data_fetch(kGroup, nullptr, nullptr), "fetch"); }));
  measure_small(comm, say);
  Fenix_Finalize();
  MPI_Finalize();
  return 0;
}
