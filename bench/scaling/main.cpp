// SPDX-License-Identifier: BSD-3-Clause
// One run of each phase of a program with checkpoints. It uses MPI windows, so that each transfer from rank to rank is a call
// of MPI that can be counted.
// usage: scaling POLICY DEATHS BYTES; as many spares as deaths. Prints JSON, a line for each phase.
#include <fenix.h>
#include <sys/stat.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "phases.hpp"
#include "policy.hpp"

namespace {

constexpr int kGroup = 1;
constexpr int kMember = 1;
constexpr int kRepetitions = 7;

// Outlives the jump back into Fenix_Init.
scaling::Phases phases;
MPI_Comm comm = MPI_COMM_NULL;
std::vector<char> data;

[[noreturn]] void fail(const char* what, int code) {
  std::fprintf(stderr, "scaling: %s: %d [%s]\n", what, code, Fenix_Error_message());
  MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  std::abort();
}

void check(int code, const char* what) {
  if (code != FENIX_SUCCESS) fail(what, code);
}

/// Bytes of the shared memory that this process has made.
long long shared_bytes() {
  constexpr long long kBlock = 512;
  long long bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code ignored;
    const auto target = std::filesystem::read_symlink(entry.path(), ignored).string();
    struct stat file {};
    if (target.starts_with("/memfd:") && stat(entry.path().c_str(), &file) == 0) bytes += file.st_blocks * kBlock;
  }
  return bytes;
}

void take_group(bench::Policy policy, const std::string& after) {
  phases.measure("group" + after, comm, [&] {
    int flag = 0;
    check(Fenix_Data_group_create(kGroup, comm, 0, 0, policy.name,
                                  policy.values.empty() ? nullptr : policy.values.data(), &flag),
          "group_create");
  });
}

void store_and_commit() {
  const auto store = [] { check(Fenix_Data_member_store(kGroup, kMember, FENIX_DATA_SUBSET_FULL), "store"); };
  const auto commit = [] { check(Fenix_Data_commit(kGroup, FENIX_TIME_STAMP_IGNORE), "commit"); };
  const auto commit_barrier = [] {
    check(Fenix_Data_commit_barrier(kGroup, FENIX_TIME_STAMP_IGNORE), "commit_barrier");
  };
  phases.measure("first store", comm, store);
  commit_barrier();
  for (int i = 0; i < kRepetitions; ++i) {
    phases.measure("store", comm, store);
    phases.measure("commit", comm, commit);
    phases.measure("store again", comm, store);
    phases.measure("commit_barrier", comm, commit_barrier);
  }
}

void work_and_die(int rank, int deaths) {
  phases.measure("member", comm, [] {
    check(Fenix_Data_member_create(kGroup, kMember, data.data(), static_cast<int>(data.size()), MPI_BYTE),
          "member_create");
  });
  store_and_commit();
  PMPI_Barrier(comm);
  if (rank >= 1 && rank <= deaths) std::raise(SIGKILL);
  phases.begin();
  // Ends in the repair, and from there in Fenix_Init.
  while (true) PMPI_Barrier(comm);
}

void recover(int role, const std::string& head) {
  const bool survived = role == FENIX_ROLE_SURVIVOR_RANK;
  check(Fenix_Data_member_attr_set(kGroup, kMember, FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER, data.data(), nullptr),
        "attr_set");
  phases.measure("restore", comm, [] {
    check(Fenix_Data_member_restore(kGroup, kMember, data.data(), static_cast<int>(data.size()),
                                    FENIX_DATA_SNAPSHOT_LATEST, FENIX_DATA_SUBSET_IGNORE),
          "restore");
  });
  if (survived) {
    double noticed = 0;
    double repaired = 0;
    check(Fenix_Process_repair_times(&noticed, &repaired), "repair_times");
    phases.set_seconds("repair", repaired - noticed);
  }
  MPI_Count footprint = 0;
  check(Fenix_Data_member_footprint(kGroup, kMember, &footprint), "footprint");
  phases.print(comm,
               {"init", "group", "member", "first store", "store", "commit", "commit_barrier", "repair", "group again",
                "group of a replacement", "restore"},
               head);
  std::array<long long, 2> bytes{static_cast<long long>(footprint), shared_bytes()};
  PMPI_Allreduce(MPI_IN_PLACE, bytes.data(), 2, MPI_LONG_LONG, MPI_MAX, comm);
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  if (rank == 0) {
    std::printf("{%s, \"phase\": \"memory\", \"footprint\": %lld, \"shared\": %lld}\n", head.c_str(), bytes[0],
                bytes[1]);
  }
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: scaling POLICY DEATHS BYTES\n");
    return 2;
  }
  const auto policy = bench::parse_policy(argv[1]);
  const int deaths = std::atoi(argv[2]);
  if (!policy || deaths < 1) {
    std::fprintf(stderr, "scaling: no policy %s, or no death\n", argv[1]);
    return 2;
  }
  setenv("FENIX_PATH", "window", 0);
  data.assign(static_cast<std::size_t>(std::atoll(argv[3])), 'a');

  int role = -1;
  int error = -1;
  MPI_Init(&argc, &argv);
  phases.begin();
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, deaths, &error);
  check(error, "Fenix_Init");
  if (role != FENIX_ROLE_RECOVERED_RANK) phases.end(role == FENIX_ROLE_INITIAL_RANK ? "init" : "repair");
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const std::string head = "\"ranks\": " + std::to_string(size) + ", \"policy\": \"" + argv[1] +
                           "\", \"deaths\": " + std::to_string(deaths) + ", \"bytes\": " + argv[3];
  if (role == FENIX_ROLE_INITIAL_RANK) {
    take_group(*policy, "");
    work_and_die(rank, deaths);
  }
  take_group(*policy, role == FENIX_ROLE_SURVIVOR_RANK ? " again" : " of a replacement");
  recover(role, head);
  check(Fenix_Finalize(), "Fenix_Finalize");
  MPI_Finalize();
  return EXIT_SUCCESS;
}
