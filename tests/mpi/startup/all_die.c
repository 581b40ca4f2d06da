/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program whose ranks all die, one some milliseconds after the other. Its spares live, and must not go on as a smaller program.
 *
 *   all_die RANKS MILLISECONDS
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int rank, size, sum;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  /* The number that its launcher has given it. */
  const int is_first = atoi(getenv("PMIX_RANK")) == rank;
  if (size != atoi(argv[1]) || !is_first) {
    printf("FENIX-TEST-FAIL process %s goes on as rank %d of %d\n", getenv("PMIX_RANK"), rank, size);
    MPI_Finalize();
    return EXIT_SUCCESS;
  }
  for (int i = 0; i < 20; ++i) MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  usleep((unsigned)(rank * atoi(argv[2])) * 1000);
  raise(SIGKILL);
}
