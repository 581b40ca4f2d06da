/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program that breaks the one rule: the process that takes the place of a dead rank does something else than its predecessor.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  int rank, value = 0, flag = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  /* The number that its launcher has given it. */
  const int is_first = atoi(getenv("PMIX_RANK")) == rank;
  for (int i = 0; i < 20 && rank < 2; ++i) {
    const int other = 1 - rank;
    if (rank == 0 && is_first) {
      while (!flag) MPI_Iprobe(other, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
      flag = 0;
    } else if (rank == 0) {
      MPI_Probe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (rank == 0) MPI_Recv(&value, 1, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&value, 1, MPI_INT, other, 0, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(&value, 1, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  printf("FENIX-TEST-OK rank %d\n", rank);
  MPI_Finalize();
  return 0;
}
