/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program that breaks the one rule: the process that takes the place of a dead rank does something else than its predecessor.
 *
 *   differs [MODE]
 *
 * MODE: calls (other functions), time (it sends the time), length (it sends more).
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rank 0 sends, and a message of rank 1 goes with each step. */
static void exchange(int rank, int is_first, int sends_time) {
  double values[2] = {0, 0};
  int value = 0;
  for (int i = 0; i < 20 && rank < 2; ++i) {
    values[0] = sends_time ? MPI_Wtime() : i;
    if (rank == 0) MPI_Send(values, is_first || sends_time ? 1 : 2, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
    if (rank == 0) MPI_Recv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Recv(values, 2, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  }
}

int main(int argc, char** argv) {
  int rank, value = 0, flag = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  /* The number that its launcher has given it. */
  const int is_first = atoi(getenv("PMIX_RANK")) == rank;
  const int is_time = argc > 1 && strcmp(argv[1], "time") == 0;
  const int is_length = argc > 1 && strcmp(argv[1], "length") == 0;
  const int exchanges = is_time || is_length;
  if (exchanges) exchange(rank, is_first, is_time);
  for (int i = 0; i < 20 && rank < 2 && !exchanges; ++i) {
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
