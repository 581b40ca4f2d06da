/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Figure 2 of "Data Persistency for Fault-Tolerance Using MPI Semantics" (Gracia et al., 2016): a value outlives the process that has
 * stored it. The program knows nothing of Fenix except MPI_Comm_persist and the question whether it has taken a dead one's place.
 *
 *   FENIX_SPARES=1 mpirun --with-ft ulfm -n 3 value
 *
 * Rank 0 dies after its send. The spare takes its place, runs main from the start, and receives the value.
 */
#include <fenix.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>

#define VALUE_TAG 1

static int failure(void) {
  int flag = 0;
  Fenix_Failure(&flag);
  return flag;
}

int main(int argc, char** argv) {
  const char mykey[] = "Run_A, June_6_2015";
  MPI_Comm persistent;
  MPI_Status status;
  int rank;
  int value = 3;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_persist(MPI_COMM_SELF, mykey, MPI_INFO_NULL, &persistent);

  /* A communicator of one process has rank 0 only. */
  if (failure()) {
    value = 0;
    MPI_Recv(&value, 1, MPI_INT, 0, VALUE_TAG, persistent, &status);
  } else {
    value = 3 + rank;
    MPI_Send(&value, 1, MPI_INT, 0, VALUE_TAG, persistent);
    if (rank == 0) raise(SIGKILL);
  }
  printf("rank %d has the value %d\n", rank, value);

  MPI_Comm_free(&persistent);
  MPI_Finalize();
  return 0;
}
