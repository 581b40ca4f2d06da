// SPDX-License-Identifier: BSD-3-Clause
// Spares that exit at the end of the use of Fenix: they wait for the program as long as it takes, and a second Fenix_Init on a communicator
// that has them is refused. SIGPIPE never ends a spare: the program may lose a rank in that time. 3 ranks, 1 of them spare.
// usage: after_finalize SECONDS   for which the program works on; more than 1.5 × FENIX_TIMEOUT
#include <mpi.h>
#include <mpi-ext.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#include "check.hpp"
#include "signal_action.hpp"

namespace {

using check::expect_equal;
using check::require;
using check::success;

MPI_Comm comm = MPI_COMM_NULL;
int role = -1;
int error = -1;
bool returned = false;  // from Fenix_Init: not in a spare

// MPI has been finalized.
void look_at_spare() {
  if (!returned && check::has_default_action(SIGPIPE)) std::printf("FENIX-TEST-FAIL SIGPIPE would end the spare\n");
}

int failed_ranks() {
  MPI_Group failed = MPI_GROUP_NULL;
  int size = -1;
  int found = 0;
  MPI_Iprobe(MPI_ANY_SOURCE, 0, comm, &found, MPI_STATUS_IGNORE);  // makes progress
  success(MPIX_Comm_get_failed(MPI_COMM_WORLD, &failed), "MPIX_Comm_get_failed");
  MPI_Group_size(failed, &size);
  return size;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::chrono::seconds work(std::atoi(argv[1]));
  std::atexit(look_at_spare);
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 1, &error);
  returned = true;
  success(error, "Fenix_Init");
  success(Fenix_Finalize(), "Fenix_Finalize");
  // The second use, on a communicator with the spare, which is inside of MPI_Finalize.
  MPI_Comm second = MPI_COMM_NULL;
  Fenix_Init(&role, MPI_COMM_WORLD, &second, &argc, &argv, 1, &error);
  expect_equal(error, FENIX_ERROR_INVALID_ARGUMENT, "error of Fenix_Init with a spare that has exited");
  require(std::string(Fenix_Error_message()).find("comm ") == 0, "the text does not name the argument");
  for (const auto begin = std::chrono::steady_clock::now(); std::chrono::steady_clock::now() - begin < work;) {
    expect_equal(failed_ranks(), 0, "number of ranks that have died");
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  // Without the spare there is nothing against it.
  Fenix_Init(&role, comm, &second, &argc, &argv, 0, &error);
  success(error, "Fenix_Init without the spare");
  success(Fenix_Finalize(), "second Fenix_Finalize");
  check::ok(rank);
  MPI_Finalize();
  return 0;
}
