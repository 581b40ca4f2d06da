/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The ranks store their state in each round, so that logs let go of what is before it. A rank that dies goes back to its state, and from
 * there on it has to see what its predecessor has seen. Rank 0 gets messages in whatever order they come, and tells everyone.
 *
 *   stateful MODE [ROUNDS]
 *
 * MODE: recv (wildcards), iprobe (looks for a message again and again), test (tests a receive again and again).
 */
#include <fenix.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGE = 1, TOLD = 3, STATE = 0 };

typedef struct {
  int round;
  unsigned long hash; /* of the order so far */
} State;

static const char* mode;
static int rank, size;

static unsigned long mix(unsigned long hash, int a, int b) {
  return (hash * 1000003 + (unsigned)a) * 1000003 + (unsigned)b;
}

/* Returns how many looks have found nothing. */
static int receive(int* value, MPI_Status* status) {
  int in_vain = 0, flag = 0;
  MPI_Request request;
  if (strcmp(mode, "iprobe") == 0) {
    for (; !flag; in_vain += !flag) MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, status);
    MPI_Recv(value, 1, MPI_INT, status->MPI_SOURCE, status->MPI_TAG, MPI_COMM_WORLD, status);
  } else if (strcmp(mode, "test") == 0) {
    MPI_Irecv(value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
    for (; !flag; in_vain += !flag) MPI_Test(&request, &flag, status);
  } else {
    MPI_Recv(value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, status);
  }
  return in_vain;
}

static void lead(State* state) {
  for (int i = 1; i < size; ++i) {
    int value = 0;
    MPI_Status status;
    const int in_vain = receive(&value, &status);
    if (value != state->round) {
      printf("FENIX-TEST-FAIL round %d: rank %d has sent %d\n", state->round, status.MPI_SOURCE, value);
      fflush(stdout);
      MPI_Abort(MPI_COMM_WORLD, 3);
    }
    state->hash = mix(mix(state->hash, status.MPI_SOURCE, status.MPI_TAG), value, in_vain);
    for (int other = 1; other < size; ++other) {
      MPI_Send(&state->hash, 1, MPI_UNSIGNED_LONG, other, TOLD, MPI_COMM_WORLD);
    }
  }
}

static void follow(State* state) {
  const int tag = MESSAGE + state->round % 2;
  MPI_Send(&state->round, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
  for (int i = 1; i < size; ++i) {
    unsigned long told = 0;
    MPI_Recv(&told, 1, MPI_UNSIGNED_LONG, 0, TOLD, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    state->hash = mix(state->hash, (int)(told >> 32), (int)told);
  }
}

int main(int argc, char** argv) {
  State state = {0, 1};
  MPI_Comm persistent;
  int failed = 0, has_state = 0;
  mode = argc > 1 ? argv[1] : "recv";
  const int rounds = argc > 2 ? atoi(argv[2]) : 400;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_persist(MPI_COMM_WORLD, "state", MPI_INFO_NULL, &persistent);
  Fenix_Failure(&failed);
  if (failed) MPI_Iprobe(rank, STATE, persistent, &has_state, MPI_STATUS_IGNORE);
  if (has_state) MPI_Recv(&state, sizeof state, MPI_BYTE, rank, STATE, persistent, MPI_STATUS_IGNORE);
  const int begun_at = state.round;
  /* All ranks have the same hash in the end: of what they were told. Rank 0 tells itself. */
  while (state.round < rounds) {
    if (rank == 0) {
      lead(&state);
    } else {
      follow(&state);
    }
    ++state.round;
    MPI_Send(&state, sizeof state, MPI_BYTE, rank, STATE, persistent);
  }
  /* Ranks that were told the same have the same hash. */
  unsigned long other = 0;
  if (rank > 0) {
    const int next = rank % (size - 1) + 1, before = (rank + size - 3) % (size - 1) + 1;
    MPI_Sendrecv(&state.hash, 1, MPI_UNSIGNED_LONG, next, TOLD + 1, &other, 1, MPI_UNSIGNED_LONG, before, TOLD + 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  const int same = rank == 0 || other == state.hash;
  printf("FENIX-TEST-%s rank %d, process %s, begun in round %d\n", same ? "OK" : "FAIL another order:", rank,
         getenv("PMIX_RANK"), begun_at);
  fflush(stdout);
  MPI_Comm_free(&persistent);
  MPI_Finalize();
  return 0;
}
