/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The memory of a program that makes many messages and knows nothing of Fenix. It is run with libfenix_mpi preloaded and FENIX_SPARES=1.
 *
 *   messages_memory PATTERN MESSAGES
 *
 * PATTERN: halo (to the neighbour and back, always one tag), tags (the same with a new tag in each step), server (rank 0 takes requests by
 * MPI_ANY_SOURCE, and answers), collectives (MPI_Allreduce of one double). MESSAGES: of each rank, 50 under way at once, or calls of MPI_Allreduce. Rank 0
 * prints, ten times on the way, how many there have been and how much memory it has of its own, and shared with others, in MiB.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS = 10, TOGETHER = 50 };

static int rank, ranks;

static void print_memory(long messages) {
  char line[256];
  long own = 0, shared = 0;
  FILE* const status = fopen("/proc/self/status", "r");
  if (rank != 0 || status == NULL) return;
  while (fgets(line, sizeof line, status) != NULL) {
    (void)sscanf(line, "RssAnon: %ld", &own);
    (void)sscanf(line, "RssShmem: %ld", &shared);
  }
  fclose(status);
  printf("%ld messages: %ld MiB, shared %ld MiB\n", messages, own / 1024, shared / 1024);
  fflush(stdout);
}

/* Exchanges messages with the neighbours. step: from one tag to the next one. */
static void exchange(int tag, int step) {
  int sent[TOGETHER], got[TOGETHER];
  MPI_Request requests[2 * TOGETHER];
  for (int i = 0; i < TOGETHER; ++i) {
    MPI_Irecv(got + i, 1, MPI_INT, (rank + ranks - 1) % ranks, tag + i * step, MPI_COMM_WORLD, requests + i);
  }
  for (int i = 0; i < TOGETHER; ++i) {
    sent[i] = tag + i;
    MPI_Isend(sent + i, 1, MPI_INT, (rank + 1) % ranks, tag + i * step, MPI_COMM_WORLD, requests + TOGETHER + i);
  }
  MPI_Waitall(2 * TOGETHER, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < TOGETHER; ++i) {
    if (got[i] != tag + i) MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

static void ask(void) {
  int values[TOGETHER];
  for (int i = 0; i < TOGETHER; ++i) MPI_Send(&rank, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
  for (int i = 0; i < TOGETHER; ++i) MPI_Recv(values + i, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void answer(void) {
  int value = 0;
  MPI_Status status;
  for (int i = 0; i < TOGETHER * (ranks - 1); ++i) {
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
    MPI_Send(&value, 1, MPI_INT, status.MPI_SOURCE, 2, MPI_COMM_WORLD);
  }
}

int main(int argc, char** argv) {
  const char* const pattern = argc > 1 ? argv[1] : "halo";
  const long messages = argc > 2 ? atol(argv[2]) : 10000;
  const int is_collective = strcmp(pattern, "collectives") == 0;
  const long steps = is_collective ? messages : messages / TOGETHER;
  double sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  print_memory(0);
  for (long i = 0; i < steps; ++i) {
    if (strcmp(pattern, "halo") == 0) exchange(7, 0);
    if (strcmp(pattern, "tags") == 0) exchange((int)i * TOGETHER, 1);
    if (strcmp(pattern, "server") == 0) rank == 0 ? answer() : ask();
    if (is_collective) MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (steps >= PARTS && (i + 1) % (steps / PARTS) == 0) print_memory((i + 1) * messages / steps);
  }
  MPI_Finalize();
  return 0;
}
