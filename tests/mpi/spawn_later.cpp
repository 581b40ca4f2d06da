// SPDX-License-Identifier: BSD-3-Clause
// A process that is spawned in the second use of Fenix. 4 ranks; rank 1 dies in the second use.
// usage: spawn_later release   1 spare in the first use, which is released: the new process comes to the first Fenix_Init like that one
//                    exit      nothing in the program is prepared for that: the communicator shrinks
//                    other     as release; the second use has a communicator that only the first ranks could make: it shrinks, too
#include <csignal>
#include <string_view>

#include "check.hpp"

namespace {

using check::expect_equal;
using check::success;

MPI_Comm comm = MPI_COMM_NULL;
int role = -1;
int error = -1;
int rank = -1;
int size = 0;
int first_uses = 0;  // in which this process was active
MPI_Comm second = MPI_COMM_WORLD;

void use_first() {
  success(error, "first Fenix_Init");
  if (role == FENIX_ROLE_SPARE_RANK) {
    check::require(comm == MPI_COMM_NULL, "communicator of a spare that was released");
    return;
  }
  expect_equal(role, FENIX_ROLE_INITIAL_RANK, "role in the first use");
  ++first_uses;
  MPI_Barrier(comm);
  success(Fenix_Finalize(), "first Fenix_Finalize");
}

void use_second(bool spawns, int size_before) {
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  if (role == FENIX_ROLE_INITIAL_RANK) {
    success(error, "second Fenix_Init");
    MPI_Barrier(comm);
    if (rank == 1) raise(SIGKILL);
    while (true) MPI_Barrier(comm);
  }
  expect_equal(error, spawns ? FENIX_SUCCESS : FENIX_ERROR_SPAWNING_FAILED, "error after the repair");
  expect_equal(size, spawns ? size_before : size_before - 1, "size after the repair");
  const bool is_new = spawns && rank == 1;
  expect_equal(role, is_new ? FENIX_ROLE_RECOVERED_RANK : FENIX_ROLE_SURVIVOR_RANK, "role after the repair");
  if (is_new) expect_equal(first_uses, 0, "first uses of a process that was spawned in the second");
  int sum = 0;
  success(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm), "MPI_Allreduce");
  expect_equal(sum, size * (size - 1) / 2, "sum of the ranks");
  success(Fenix_Finalize(), "second Fenix_Finalize");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const std::string_view test = argc > 1 ? argv[1] : "";
  const bool released = test != "exit";
  if (released) Fenix_set_option(FENIX_SPARE_FINALIZE_MODE, FENIX_SPARE_FINALIZE_RELEASE);
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, released ? 1 : 0, 1, MPI_INFO_NULL, &error);
  const bool was_spare = role == FENIX_ROLE_SPARE_RANK;
  use_first();
  if (test == "other") MPI_Comm_split(MPI_COMM_WORLD, was_spare ? MPI_UNDEFINED : 0, 0, &second);
  if (second != MPI_COMM_NULL) {
    Fenix_Init(&role, second, &comm, &argc, &argv, 0, 1, MPI_INFO_NULL, &error);
    use_second(test == "release", test == "other" ? 3 : 4);
  }
  check::ok(rank);
  MPI_Finalize();
  return 0;
}
