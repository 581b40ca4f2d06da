// SPDX-License-Identifier: BSD-3-Clause
// While groups are created on a communicator, other threads may use it. It never has a handler that only returns errors: their
// failures would not be repaired. A handler of the program is there again afterwards.
#include <atomic>
#include <thread>

#include "check.hpp"

namespace {

using check::expect_equal;
using check::require;
using check::success;

constexpr int kGroups = 60;

bool only_returns(MPI_Comm comm) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  success(MPI_Comm_get_errhandler(comm, &handler), "MPI_Comm_get_errhandler");
  const bool same = handler == MPI_ERRORS_RETURN;
  MPI_Errhandler_free(&handler);
  return same;
}

void create_groups(MPI_Comm comm, int first) {
  for (int id = first; id < first + kGroups; ++id) {
    success(Fenix_Data_group_create(id, comm, 0, 0, FENIX_DATA_POLICY_IMR, nullptr, nullptr), "group_create");
  }
}

}  // namespace

int main(int argc, char** argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  expect_equal(level, MPI_THREAD_MULTIPLE, "thread level");
  static int role = -1;
  static int error = -1;
  static MPI_Comm comm = MPI_COMM_NULL;
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 0, &error);
  MPI_Comm derived = MPI_COMM_NULL;
  success(MPI_Comm_dup(comm, &derived), "MPI_Comm_dup");
  std::atomic<bool> done{false};
  std::atomic<int> seen{0};
  std::thread other([&] {
    while (!done) {
      if (only_returns(derived)) ++seen;
    }
  });
  create_groups(derived, 0);
  done = true;
  other.join();
  expect_equal(seen, 0, "how often the communicator had a handler that only returns errors");
  success(MPI_Comm_set_errhandler(derived, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  create_groups(derived, kGroups);
  require(only_returns(derived), "the handler of the program is gone");
  int rank = -1;
  MPI_Comm_rank(comm, &rank);
  success(Fenix_Finalize(), "Fenix_Finalize");
  check::ok(rank);
  MPI_Finalize();
  return 0;
}
