/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program whose library cleans up in MPI_Finalize, by attributes of MPI_COMM_SELF: their functions communicate. Rank 1 dies in one.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, called;

static int clean_up(MPI_Comm comm, int key, void* value, void* extra) {
  int sum = 0;
  (void)comm;
  (void)key;
  (void)extra;
  const int number = *(int*)value;
  const int is_in_order = called == 1 - number;
  MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 1 && atoi(getenv("PMIX_RANK")) == 1 && number == 0) raise(SIGKILL);
  if (is_in_order && sum == 3 * number) ++called;
  if (called == 2) printf("FENIX-TEST-OK rank %d\n", rank);
  return MPI_SUCCESS;
}

int main(int argc, char** argv) {
  static int numbers[2] = {0, 1};
  int keys[2];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 2; ++i) {
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, clean_up, &keys[i], NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, keys[i], &numbers[i]);
  }
  MPI_Finalize();
  return EXIT_SUCCESS;
}
