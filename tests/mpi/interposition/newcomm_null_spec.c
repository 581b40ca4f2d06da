// SPDX-License-Identifier: BSD-3-Clause
// Specification 1.0: newcomm is NULL, and a communicator derived from comm is repaired. Rank 1 of 3 dies, and a spare replaces it.
#include <fenix/spec.h>
#include <signal.h>
#include <stdio.h>

static int role = -1;
static int error = -1;

static void check(int holds, const char* what) {
  if (holds) return;
  printf("FENIX-TEST-FAIL %s: %s\n", what, Fenix_Error_message());
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

int main(int argc, char** argv) {
  static MPI_Comm before = MPI_COMM_NULL;
  MPI_Init(&argc, &argv);
  Fenix_Init(MPI_COMM_WORLD, NULL, &role, &argc, &argv, 1, 0, MPI_INFO_NULL, &error);
  check(error == FENIX_SUCCESS, "Fenix_Init");
  int rank = -1, size = -1, sum = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  check(size == 3, "size of MPI_COMM_WORLD");
  MPI_Comm ring = MPI_COMM_NULL;
  const int periods[1] = {1};
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, periods, 0, &ring);
  check(role != FENIX_ROLE_SURVIVOR_RANK || ring == before, "a survivor has another handle");
  before = ring;
  if (role == FENIX_ROLE_INITIAL_RANK && rank == 1) raise(SIGKILL);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, ring);
  check(sum == 3 && role != FENIX_ROLE_INITIAL_RANK, "sum of the ranks after the repair");
  check(Fenix_Finalize() == FENIX_SUCCESS, "Fenix_Finalize");
  printf("FENIX-TEST-OK rank %d\n", rank);
  MPI_Finalize();
  return 0;
}
