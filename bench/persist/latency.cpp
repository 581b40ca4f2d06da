// SPDX-License-Identifier: BSD-3-Clause
// A message that is stored and received on a persistent communicator, beside a member that is stored and restored, and beside plain
// MPI. Run by bench/persist/measure, on 2 ranks.
// usage: persist_latency BYTES ITERATIONS ROUNDS     prints the median and the quartiles of rank 0's times, in microseconds
#include <fenix.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace {

constexpr int kTag = 7;
constexpr int kGroup = 1;
constexpr int kWarmup = 2;  // rounds

struct Measured {
  std::string name;
  /// Runs on rank 0, on both ranks if on_both.
  std::function<void()> run;
  bool on_both = false;
  std::vector<double> times = {};
};

struct Run {
  int rank = 0;
  int bytes = 0;
  std::vector<char> values;
  std::vector<char> received;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm persistent = MPI_COMM_NULL;
};

void require(int code, const char* call) {
  if (code == 0) return;
  std::fprintf(stderr, "persist_latency: %s returned %d: %s\n", call, code, Fenix_Error_message());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/// Makes the bytes other ones in each page: a store of values that have not changed would cost less.
void change(Run& run, int number) {
  constexpr std::size_t kPage = 4096;
  for (std::size_t i = 0; i < run.values.size(); i += kPage) run.values[i] = static_cast<char>(number);
}

void copy_plainly(Run& run) { std::memcpy(run.received.data(), run.values.data(), run.values.size()); }

/// Half a round trip is one message.
void exchange(Run& run) {
  const int other = 1 - run.rank;
  char* there = run.values.data();
  char* back = run.received.data();
  if (run.rank == 0) MPI_Send(there, run.bytes, MPI_BYTE, other, kTag, run.comm);
  MPI_Recv(back, run.bytes, MPI_BYTE, other, kTag, run.comm, MPI_STATUS_IGNORE);
  if (run.rank == 1) MPI_Send(there, run.bytes, MPI_BYTE, other, kTag, run.comm);
}

void send(Run& run, int to) {
  require(MPI_Send(run.values.data(), run.bytes, MPI_BYTE, to, kTag, run.persistent), "MPI_Send");
}

void receive(Run& run, int from) {
  MPI_Status status;
  require(MPI_Recv(run.received.data(), run.bytes, MPI_BYTE, from, kTag, run.persistent, &status), "MPI_Recv");
}

void store() {
  require(Fenix_Data_member_store(kGroup, 0, FENIX_DATA_SUBSET_FULL), "Fenix_Data_member_store");
  require(Fenix_Data_commit(kGroup, nullptr), "Fenix_Data_commit");
}

void restore(Run& run) {
  require(Fenix_Data_member_restore(kGroup, 0, run.received.data(), run.bytes, FENIX_DATA_SNAPSHOT_LATEST, nullptr),
          "Fenix_Data_member_restore");
}

double time(Run& run, const Measured& measured, int iterations, int& number) {
  MPI_Barrier(run.comm);
  double seconds = 0;
  for (int i = 0; i < iterations; ++i) {
    change(run, ++number);
    if (run.rank != 0 && !measured.on_both) continue;
    const double start = MPI_Wtime();
    measured.run();
    seconds += MPI_Wtime() - start;
  }
  MPI_Barrier(run.comm);
  return seconds / iterations * 1e6;
}

double quantile(const std::vector<double>& sorted, double part) {
  return sorted[static_cast<std::size_t>(part * static_cast<double>(sorted.size() - 1) + 0.5)];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  Run run;
  run.bytes = std::atoi(argv[1]);
  const int iterations = std::atoi(argv[2]);
  const int rounds = std::atoi(argv[3]);
  MPI_Init(&argc, &argv);
  static int role = 0;
  static int error = FENIX_SUCCESS;
  static MPI_Comm comm = MPI_COMM_NULL;
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 0, &error);
  require(error, "Fenix_Init");
  run.comm = comm;
  MPI_Comm_rank(comm, &run.rank);
  run.values.assign(static_cast<std::size_t>(run.bytes), 1);
  run.received.assign(run.values.size(), 2);

  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  // So much is kept at once: a message for each destination, and a small one.
  const std::size_t volume = std::max<std::size_t>(2 * run.values.size() + 4096, std::size_t{64} << 20U);
  MPI_Info_set(info, "persist_volume", std::to_string(volume).c_str());
  require(MPI_Comm_persist(comm, "bench", info, &run.persistent), "MPI_Comm_persist");
  MPI_Info_free(&info);
  int flag = 0;
  int separation = 1;
  require(Fenix_Data_group_create(kGroup, comm, 0, 0, FENIX_DATA_POLICY_PEER_RANK_SEPARATION, &separation, &flag),
          "Fenix_Data_group_create");
  require(Fenix_Data_member_define(kGroup, 0, run.values.data(), run.bytes, MPI_BYTE), "Fenix_Data_member_define");

  const int self = run.rank;
  const int other = 1 - run.rank;
  // A message that stays, as a program's parameters do, and something for rank 0 to receive from either rank.
  require(MPI_Send(run.values.data(), std::min(run.bytes, 1000), MPI_BYTE, self, kTag + 1, run.persistent), "MPI_Send");
  send(run, self);
  send(run, other);
  std::vector<Measured> all = {
      {"memcpy", [&] { copy_plainly(run); }},
      {"MPI_Send", [&] { exchange(run); }, true},
      {"store + commit", [] { store(); }, true},
      {"restore", [&] { restore(run); }, true},
      {"send to itself", [&] { send(run, self); }, true},
      {"receive from itself", [&] { receive(run, self); }},
      {"send to the other", [&] { send(run, other); }, true},
      {"receive from the other", [&] { receive(run, other); }},
  };
  int number = 0;
  for (int round = 0; round < kWarmup + rounds; ++round) {
    for (Measured& each : all) {
      const double microseconds = time(run, each, iterations, number);
      if (round >= kWarmup) each.times.push_back(each.name == "MPI_Send" ? microseconds / 2 : microseconds);
    }
  }
  // Both ranks have the same values.
  change(run, ++number);
  send(run, other);
  MPI_Barrier(comm);
  receive(run, other);
  require(run.received == run.values ? 0 : -1, "the comparison of a message");
  for (Measured& each : all) {
    if (run.rank != 0) break;
    std::sort(each.times.begin(), each.times.end());
    std::printf("%s;%.4g;%.4g;%.4g\n", each.name.c_str(), quantile(each.times, 0.5), quantile(each.times, 0.25),
                quantile(each.times, 0.75));
  }
  Fenix_Finalize();
  MPI_Finalize();
  return 0;
}
