// SPDX-License-Identifier: BSD-3-Clause
// Ranks that have used up Open MPI's numbers of communicators. The error names the limit. Committed data stays, commits go on, and the same
// call works when communicators have been freed. 2 ranks.
#include <mpi.h>

#include <string>
#include <vector>

#include "check.hpp"

namespace {

using check::expect_equal;
using check::require;
using check::success;

constexpr int kGroup = 1;
constexpr int kOther = 2;
constexpr int kCount = 1000;

MPI_Comm comm = MPI_COMM_NULL;
int rank = -1;
std::vector<double> kept(kCount);
std::vector<MPI_Comm> taken;

double value(int i) { return rank * 1000.0 + i; }

void expect_snapshot() {
  std::vector<double> target(kCount, -1);
  success(Fenix_Data_member_restore(kGroup, 0, target.data(), kCount, FENIX_DATA_SNAPSHOT_LATEST, nullptr), "restore");
  for (int i = 0; i < kCount; ++i) require(target[static_cast<std::size_t>(i)] == value(i), "another value");
}

int create(int id) {
  return Fenix_Data_group_create(id, comm, 0, 1, FENIX_DATA_POLICY_IN_MEMORY_RAID, nullptr, nullptr);
}

void take_all() {
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  for (MPI_Comm made = MPI_COMM_NULL; MPI_Comm_dup(MPI_COMM_SELF, &made) == MPI_SUCCESS;) taken.push_back(made);
  require(taken.size() > 60'000, "only " + std::to_string(taken.size()) + " communicators could be made");
}

void give_back() {
  for (MPI_Comm& each : taken) MPI_Comm_free(&each);
  taken.clear();
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int role = -1;
  int error = 0;
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 0, &error);
  MPI_Comm_rank(comm, &rank);
  success(create(kGroup), "group_create");
  success(Fenix_Data_member_create(kGroup, 0, kept.data(), kCount, MPI_DOUBLE), "member_create");
  for (int i = 0; i < kCount; ++i) kept[static_cast<std::size_t>(i)] = value(i);
  success(Fenix_Data_member_store(kGroup, 0, FENIX_DATA_SUBSET_FULL), "store");
  success(Fenix_Data_commit_barrier(kGroup, nullptr), "commit_barrier");
  take_all();
  MPI_Barrier(comm);
  expect_equal(create(kOther), FENIX_ERROR_NO_MEMORY, "group_create without a number");
  require(std::string(Fenix_Error_message()).find("65,535") != std::string::npos, "the limit is not named");
  expect_snapshot();
  success(Fenix_Data_member_store(kGroup, 0, FENIX_DATA_SUBSET_FULL), "store");
  success(Fenix_Data_commit_barrier(kGroup, nullptr), "commit_barrier");
  give_back();
  MPI_Barrier(comm);
  success(create(kOther), "group_create with a number");
  expect_snapshot();
  success(Fenix_Finalize(), "Fenix_Finalize");
  check::ok(rank);
  MPI_Finalize();
  return 0;
}
