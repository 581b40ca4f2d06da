/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program whose rank 0 dies, and is replaced by a process that ends early.
 *
 *   ends_early sums       its predecessor had added numbers with all others
 *   ends_early receives   its predecessor had only received: nobody knows how many messages
 *   ends_early too        its predecessor had ended early as well (FENIX_FAULT kills it there), and others are still at work
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STEPS = 20, STEP_OF_DEATH = 10 };

static int rank;

static void add(int step) {
  int sum = 0;
  MPI_Allreduce(&step, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (sum == 3 * step) return;
  printf("FENIX-TEST-FAIL rank %d has the sum %d in step %d\n", rank, sum, step);
  exit(EXIT_FAILURE);
}

static void pass(int step) {
  int value = step;
  if (rank == 0) MPI_Recv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == 1) MPI_Ssend(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
}

/* Rank 0 has two messages for the others, which take their time. */
static void work(void) {
  int value = 7;
  if (rank > 0) MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int other = 1; rank == 0 && other < 3; ++other) MPI_Send(&value, 1, MPI_INT, other, 0, MPI_COMM_WORLD);
  if (rank == 0) return;
  sleep(1);
  const int other = 3 - rank;
  MPI_Sendrecv_replace(&value, 1, MPI_INT, other, 0, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int is_new = atoi(getenv("PMIX_RANK")) != rank;
  const int ends_too = strcmp(argv[1], "too") == 0;
  if (ends_too) work();
  for (int step = 0; step < STEPS && !ends_too && !is_new; ++step) {
    if (rank == 0 && step == STEP_OF_DEATH) raise(SIGKILL);
    if (strcmp(argv[1], "sums") == 0) add(step);
    if (strcmp(argv[1], "receives") == 0) pass(step);
  }
  MPI_Finalize();
  printf("FENIX-TEST-OK rank %d\n", rank);
  return EXIT_SUCCESS;
}
