/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program whose rank 0 comes to MPI_Finalize much later than the others.
 *
 *   ends_late SECONDS
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int rank, sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (unsigned left = (unsigned)atoi(argv[1]); rank == 0 && left > 0;) left = sleep(left);
  MPI_Finalize();
  printf("FENIX-TEST-OK rank %d has the sum %d\n", rank, sum);
  return sum == 3 ? EXIT_SUCCESS : EXIT_FAILURE;
}
