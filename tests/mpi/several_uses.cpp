// SPDX-License-Identifier: BSD-3-Clause
// Fenix_Init after Fenix_Finalize, four times, with a death in each use but the last; and what stays after Fenix_Finalize: the
// resilient communicator, the settings of before, and what SIGPIPE does. 6 ranks: 3 active and 3 spares at first.
#include <array>
#include <csignal>
#include <string>

#include "check.hpp"
#include "signal_action.hpp"

namespace {

using check::expect_equal;
using check::require;
using check::success;

constexpr int kGroup = 4;
constexpr int kActive = 3;
constexpr int kUses = 4;

int uses = 0;
MPI_Comm comm = MPI_COMM_NULL;
int role = -1;
int error = -1;
long state = 0;

void store(int use) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  success(fenix::data::group_create(kGroup), "group_create");
  success(fenix::data::member_define(kGroup, 1, &state, 1, MPI_LONG), "member_define");
  if (role == FENIX_ROLE_INITIAL_RANK) {
    require(fenix::data::group_snapshots(kGroup)->empty(), "snapshots of an earlier use");
    state = 100 * use + rank;
    success(fenix::data::member_store(kGroup, 1), "store");
    success(fenix::data::commit_barrier(kGroup), "commit_barrier");
    if (use == kUses - 1) return;
    if (rank == 1) raise(SIGKILL);
    MPI_Barrier(comm);
    check::fail("a barrier without rank 1");
  }
  state = -1;
  success(fenix::data::member_restore(kGroup, 1), "restore");
  expect_equal(state, 100 * use + rank, "what was restored");
}

void use_fenix(int use) {
  bool done = false;
  while (!done) {
    try {
      store(use);
      done = true;
    } catch (const fenix::CommException& failure) {
      expect_equal(failure.fenix_err, FENIX_SUCCESS, "fenix_err");
    }
  }
  success(Fenix_Finalize(), "Fenix_Finalize");
}

// The communicator belongs to the application now; errors on it are returned.
void use_what_stays() {
  int rank = 0;
  int sum = 0;
  MPI_Comm_rank(comm, &rank);
  success(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm), "MPI_Allreduce after Fenix_Finalize");
  expect_equal(sum, kActive * (kActive - 1) / 2, "sum of the ranks");
  MPI_Comm derived = MPI_COMM_NULL;
  success(MPI_Comm_dup(comm, &derived), "MPI_Comm_dup after Fenix_Finalize");
  int error_class = MPI_SUCCESS;
  MPI_Error_class(MPI_Send(&rank, 1, MPI_INT, 99, 0, derived), &error_class);
  expect_equal(error_class, MPI_ERR_RANK, "error of a send to a rank that does not exist");
  success(MPI_Comm_free(&derived), "MPI_Comm_free");
  success(MPI_Comm_free(&comm), "MPI_Comm_free of the resilient communicator");
  unsigned mode = 0;
  success(Fenix_get_option(FENIX_RESUME_MODE, &mode), "get_option");
  expect_equal(mode, FENIX_RESUME_JUMP, "resume mode after Fenix_Finalize");
  success(Fenix_get_option(FENIX_UNHANDLED_MODE, &mode), "get_option");
  expect_equal(mode, FENIX_UNHANDLED_PRINT, "unhandled mode after Fenix_Finalize");
  require(!check::has_default_action(SIGPIPE), "SIGPIPE would end this process, which knows of a death");
  check::expect_thrown(FENIX_ERROR_UNINITIALIZED, "store after Fenix_Finalize",
                       [] { fenix::data::member_store(kGroup, 1); });
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int first_rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &first_rank);
  fenix::set_option(fenix::SPARE_FINALIZE_MODE, fenix::RELEASE);
  fenix::set_option(fenix::UNHANDLED_MODE, fenix::PRINT);
  // A rank that has died stays in MPI_COMM_WORLD, and the next use begins without it.
  for (int use = 0; use < kUses; ++use) {
    comm = MPI_COMM_NULL;
    fenix::init({.role = &role, .out_comm = &comm, .spares = 3, .err = &error, .unhandled_mode = fenix::SILENT});
    success(error, "init");
    expect_equal(fenix::initialized(), 1, "initialized");
    if (role == FENIX_ROLE_SPARE_RANK) {
      require(comm == MPI_COMM_NULL, "communicator of a spare rank that was released");
      continue;
    }
    require(!fenix::finalized(), "finalized in use");
    expect_equal(fenix::get_option(fenix::UNHANDLED_MODE), fenix::SILENT, "unhandled mode in use");
    use_fenix(use);
    require(fenix::finalized(), "finalized");
    use_what_stays();
    ++uses;
  }
  check::ok(first_rank);
  MPI_Finalize();
  return 0;
}
