// SPDX-License-Identifier: BSD-3-Clause
// A snapshot older than depth stays in a rank's memory as long as the rank does not know that all have newer ones. Ranks 1 and 2
// away tell it by themselves, rank 3 away does not: a plain commit then leaves the old snapshot there, and a cleanup removes it.
// Programs see the newest depth + 1 snapshots either way, so this test looks inside of the library.
#include <functional>
#include <string>

#include "../check.hpp"
#include "runtime/runtime.hpp"

namespace {

using check::expect_equal;
using check::require;
using check::success;

constexpr int kGroup = 1;

MPI_Comm comm = MPI_COMM_NULL;
int rank = -1;
int value = 0;

void store(int number) {
  value = 100 * number + rank;
  success(Fenix_Data_member_store(kGroup, 0, FENIX_DATA_SUBSET_FULL), "store");
}

// Whether this rank still has the record of the first snapshot, and so its slot.
bool has_oldest() {
  const auto records = fenix_impl::runtime().group(kGroup).log().records();
  return !records.empty() && records.front().record.epoch == fenix_impl::Epoch{1};
}

// Ranks 2 and 3 commit, then rank 1, and rank 0 at last: rank 1 does not tell rank 0. call: the commit of rank 0.
void commit_in_turn(int time_stamp, const std::function<int(int*)>& call) {
  store(time_stamp);
  for (const bool turn : {rank == 2 || rank == 3, rank == 1, rank == 0}) {
    if (turn) {
      int got = -1;
      success(rank == 0 ? call(&got) : Fenix_Data_commit(kGroup, &got), "commit");
      expect_equal(got, time_stamp, "time stamp");
    }
    MPI_Barrier(comm);
  }
}

void begin() {
  success(Fenix_Data_group_create(kGroup, comm, 0, 0, FENIX_DATA_POLICY_IMR, nullptr, nullptr), "group_create");
  success(Fenix_Data_member_create(kGroup, 0, &value, 1, MPI_INT), "member_create");
  store(0);
  success(Fenix_Data_commit_barrier(kGroup, nullptr), "commit_barrier");
}

void end() {
  success(Fenix_Data_barrier(kGroup), "barrier");
  success(Fenix_Data_group_delete(kGroup), "group_delete");
  success(Fenix_Data_barrier(kGroup), "barrier after group_delete");
}

}  // namespace

int main(int argc, char** argv) {
  int role = -1;
  int error = -1;
  MPI_Init(&argc, &argv);
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 0, 0, MPI_INFO_NULL, &error);
  MPI_Comm_rank(comm, &rank);

  check::context() = "cleanup: ";
  begin();
  commit_in_turn(1, [](int* time_stamp) { return Fenix_Data_commit(kGroup, time_stamp); });
  if (rank == 0) {
    require(has_oldest(), "the commit has removed what the cleanup is to remove");
    success(Fenix_Data_cleanup(kGroup), "cleanup");
    require(!has_oldest(), "the oldest snapshot is there after the cleanup");
  }
  end();

  check::context() = "commit_cleanup: ";
  begin();
  commit_in_turn(1, [](int* time_stamp) { return Fenix_Data_commit_cleanup(kGroup, time_stamp); });
  if (rank == 0) require(!has_oldest(), "the oldest snapshot is there after the commit with a cleanup");
  end();

  success(Fenix_Finalize(), "Fenix_Finalize");
  check::ok(rank);
  MPI_Finalize();
  return 0;
}
