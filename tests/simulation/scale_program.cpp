// SPDX-License-Identifier: BSD-3-Clause
// The program of --scale: the phases of bench/scaling/main.cpp. All it keeps is static: the data of a process.
#include <fenix.h>

#include <vector>

#include "scale_plan.hpp"

namespace {

using namespace fenix_simulation;

constexpr int kGroup = 1;
constexpr int kMember = 1;

MPI_Comm comm;
int role;
int error;
int rank;
std::vector<char> data;

const ScalePlan& plan() { return *scale_plan(); }

void check(int code, const char* what) {
  if (code != FENIX_SUCCESS) scale_fail(what, code, Fenix_Error_message());
}

template <class Work>
void measure(const char* phase, Work&& work) {
  PMPI_Barrier(comm);
  scale_begin();
  work();
  scale_end(phase);
}

void take_group(const char* phase) {
  measure(phase, [] {
    int flag = 0;
    check(Fenix_Data_group_create(kGroup, comm, 0, 0, plan().policy, plan().values, &flag), "group_create");
  });
}

void store_and_commit() {
  const auto store = [] { check(Fenix_Data_member_store(kGroup, kMember, FENIX_DATA_SUBSET_FULL), "store"); };
  const auto commit = [] { check(Fenix_Data_commit(kGroup, FENIX_TIME_STAMP_IGNORE), "commit"); };
  const auto commit_barrier = [] {
    check(Fenix_Data_commit_barrier(kGroup, FENIX_TIME_STAMP_IGNORE), "commit_barrier");
  };
  measure("first store", store);
  commit_barrier();
  for (int i = 0; i < plan().repetitions; ++i) {
    measure("store", store);
    measure("commit", commit);
    measure("store again", store);
    measure("commit_barrier", commit_barrier);
  }
}

void work_and_die() {
  measure("member", [] {
    check(Fenix_Data_member_create(kGroup, kMember, data.data(), static_cast<int>(data.size()), MPI_BYTE),
          "member_create");
  });
  store_and_commit();
  PMPI_Barrier(comm);
  if (rank >= 1 && rank <= plan().deaths) scale_die();
  scale_begin();
  // Ends in the repair, and from there in Fenix_Init.
  while (true) PMPI_Barrier(comm);
}

void recover() {
  check(Fenix_Data_member_attr_set(kGroup, kMember, FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER, data.data(), nullptr),
        "attr_set");
  measure("restore", [] {
    check(Fenix_Data_member_restore(kGroup, kMember, data.data(), static_cast<int>(data.size()),
                                    FENIX_DATA_SNAPSHOT_LATEST, FENIX_DATA_SUBSET_IGNORE),
          "restore");
  });
  if (role != FENIX_ROLE_SURVIVOR_RANK) return;
  double noticed = 0;
  double repaired = 0;
  check(Fenix_Process_repair_times(&noticed, &repaired), "repair_times");
  scale_seconds("repair", repaired - noticed);
  scale_seconds("death", scale_since_death(noticed));
}

}  // namespace

/// Main function of each process.
extern "C" void fenix_simulated_scale_program() {
  comm = MPI_COMM_NULL;
  data.assign(static_cast<std::size_t>(plan().bytes), 'a');
  role = error = -1;
  scale_begin();
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, nullptr, nullptr, plan().deaths, 0, MPI_INFO_NULL, &error);
  check(error, "Fenix_Init");
  if (role != FENIX_ROLE_RECOVERED_RANK) scale_end(role == FENIX_ROLE_INITIAL_RANK ? "init" : "repair");
  MPI_Comm_rank(comm, &rank);
  if (role == FENIX_ROLE_INITIAL_RANK) {
    take_group("group");
    work_and_die();
  }
  take_group(role == FENIX_ROLE_SURVIVOR_RANK ? "group again" : "group of a replacement");
  recover();
  check(Fenix_Finalize(), "Fenix_Finalize");
  MPI_Finalize();
}
