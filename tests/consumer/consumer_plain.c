/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program without any call of Fenix. With FENIX_SPARES=1 it has one rank less than mpirun has started.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  int rank, size, started = atoi(getenv("OMPI_COMM_WORLD_SIZE"));
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  printf("FENIX-TEST-%s rank %d of %d\n", size == started - 1 ? "OK" : "FAIL", rank, size);
  MPI_Finalize();
  return EXIT_SUCCESS;
}
