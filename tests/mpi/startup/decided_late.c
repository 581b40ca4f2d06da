/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program in which a replacement waits for something that its predecessor had found, and that another replacement takes long to send again.
 *
 *   decided_late waitany|probe SECONDS
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void send_to(int rank) { MPI_Send(&rank, 1, MPI_INT, rank, 0, MPI_COMM_WORLD); }
static void receive_from(int rank) {
  int value = 0;
  MPI_Recv(&value, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Returns who has sent the first message. */
static int first_of_two(int waits) {
  MPI_Status status;
  if (!waits) {
    MPI_Probe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
    receive_from(status.MPI_SOURCE);
    return status.MPI_SOURCE;
  }
  static int values[2];
  static MPI_Request requests[2];
  int index = 0;
  for (int i = 0; i < 2; ++i) MPI_Irecv(&values[i], 1, MPI_INT, i + 1, 0, MPI_COMM_WORLD, &requests[i]);
  MPI_Waitany(2, requests, &index, &status);
  send_to(2);
  MPI_Wait(&requests[1 - index], MPI_STATUS_IGNORE);
  return index + 1;
}

int main(int argc, char** argv) {
  int rank, first = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int is_new = atoi(getenv("PMIX_RANK")) != rank;
  const int waits = strcmp(argv[1], "waitany") == 0;
  if (rank == 0) {
    first = first_of_two(waits);
    if (!waits) send_to(2);
    if (!waits) receive_from(2);
    send_to(1);
  }
  if (rank == 1) {
    for (unsigned left = is_new ? (unsigned)atoi(argv[2]) : 0; left > 0;) left = sleep(left);
    send_to(0);
    receive_from(0);
  }
  if (rank == 2) {
    receive_from(0);
    send_to(0);
  }
  /* Both die when the messages are there that depend on what rank 0 has found. */
  if (rank < 2 && !is_new) raise(SIGKILL);
  MPI_Finalize();
  if (first == 1) printf("FENIX-TEST-OK rank %d\n", rank);
  return EXIT_SUCCESS;
}
