// SPDX-License-Identifier: BSD-3-Clause
// With libfenix_mpi, the resilient communicator that Fenix_Init returns keeps its handle through a repair. Rank 1 of 3 dies.
#include <csignal>

#include "../check.hpp"

namespace {

MPI_Comm comm = MPI_COMM_NULL;
MPI_Comm first = MPI_COMM_NULL;
MPI_Comm in_callback = MPI_COMM_NULL;
int role = -1;
int error = -1;

void note(MPI_Comm repaired, int, void*) { in_callback = repaired; }

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 1, &error);
  check::success(error, "Fenix_Init");
  int rank = -1;
  int sum = -1;
  MPI_Comm_rank(comm, &rank);
  if (role == FENIX_ROLE_INITIAL_RANK) {
    first = comm;
    Fenix_Callback_register(note, nullptr);
    if (rank == 1) raise(SIGKILL);
  }
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  check::expect_equal(sum, 3, "sum of the ranks");
  check::require(role != FENIX_ROLE_INITIAL_RANK, "nobody has died");
  if (role == FENIX_ROLE_SURVIVOR_RANK) {
    check::require(comm == first, "newcomm has another value");
    check::require(in_callback == first, "the callback got another communicator");
  }
  // MPI_COMM_WORLD is the whole job, as without the library.
  int size = -1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  check::expect_equal(size, 4, "size of MPI_COMM_WORLD");
  check::success(Fenix_Finalize(), "Fenix_Finalize");
  check::ok(rank);
  MPI_Finalize();
  return 0;
}
