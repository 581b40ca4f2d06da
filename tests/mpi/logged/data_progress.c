/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program that knows nothing of Fenix, with calls under way while it is in others. MPI lets it end: no call may keep the others from
 * going on.
 *
 *   data_progress CASE
 *
 * Ranks from 1 on complete what they have begun before they come to a call for which rank 0 waits, or the other way round.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGE = 300000, MANY = 100, TAG = 5 };

static int rank, size, wrong;

static void require(int holds, const char* what) {
  if (!holds) printf("FENIX-TEST-FAIL rank %d: %s\n", rank, what);
  if (!holds) wrong = 1;
}

static int mine[2], sum[2];
static MPI_Request request;

/* A sum to which all ranks come. */
static void begin(void) {
  mine[0] = rank + 1;
  MPI_Iallreduce(mine, sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
}

static void end(void) {
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  require(sum[0] == size * (size + 1) / 2, "the sum");
}

static int* large(int value) {
  int* const made = malloc(LARGE * sizeof *made);
  for (int i = 0; i < LARGE; ++i) made[i] = value + i;
  return made;
}

static void check_large(const int* from, int value) {
  int good = 0;
  for (int i = 0; i < LARGE; ++i) good += from[i] == value + i;
  require(good == LARGE, "a large message");
}

/* Rank 0 is in a call that needs rank 1, which has to end the sum before. */
static void call_for_rank_1(const char* name) {
  int value = 0;
  int* const content = large(0);
  MPI_Status status;
  MPI_Message message;
  if (strcmp(name, "recv") == 0) {
    MPI_Recv(&value, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (strcmp(name, "any") == 0) {
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (strcmp(name, "ssend") == 0) {
    MPI_Ssend(&value, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD);
  } else if (strcmp(name, "send") == 0) {
    MPI_Send(content, LARGE, MPI_INT, 1, TAG, MPI_COMM_WORLD);
  } else if (strcmp(name, "sendrecv") == 0) {
    MPI_Sendrecv(content, LARGE, MPI_INT, 1, TAG, &value, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (strcmp(name, "probe") == 0) {
    MPI_Probe(1, TAG, MPI_COMM_WORLD, &status);
    MPI_Recv(&value, 1, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (strcmp(name, "mprobe") == 0) {
    MPI_Mprobe(1, TAG, MPI_COMM_WORLD, &message, &status);
    MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
  } else if (strcmp(name, "wait") == 0 || strcmp(name, "waitany") == 0 || strcmp(name, "test") == 0) {
    MPI_Request other;
    int index = 0, flag = 0;
    MPI_Irecv(&value, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD, &other);
    if (strcmp(name, "wait") == 0) MPI_Wait(&other, MPI_STATUS_IGNORE);
    if (strcmp(name, "waitany") == 0) MPI_Waitany(1, &other, &index, MPI_STATUS_IGNORE);
    while (strcmp(name, "test") == 0 && !flag) MPI_Test(&other, &flag, MPI_STATUS_IGNORE);
  } else if (strcmp(name, "isend") == 0) {
    MPI_Request other;
    MPI_Isend(content, LARGE, MPI_INT, 1, TAG, MPI_COMM_WORLD, &other);
    MPI_Wait(&other, MPI_STATUS_IGNORE);
  }
  if (strcmp(name, "ssend") != 0 && strcmp(name, "send") != 0 && strcmp(name, "isend") != 0)
    require(value == 7, "a value");
  free(content);
}

static void call_for_rank_0(const char* name) {
  int value = 7;
  int* const content = large(1);
  if (strcmp(name, "ssend") == 0) {
    MPI_Recv(&value, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (strcmp(name, "send") == 0 || strcmp(name, "isend") == 0) {
    MPI_Recv(content, LARGE, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check_large(content, 0);
  } else if (strcmp(name, "sendrecv") == 0) {
    MPI_Recv(content, LARGE, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&value, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD);
    check_large(content, 0);
  } else {
    MPI_Send(&value, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD);
  }
  free(content);
}

static void with_messages(const char* name) {
  begin();
  if (rank == 0) call_for_rank_1(name);
  end();
  if (rank == 1) call_for_rank_0(name);
}

/* The others come to the call when their sum is there, and rank 0 before. */
static void with_all(const char* name, MPI_Comm other) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Group group;
  begin();
  if (rank != 0) end();
  if (strcmp(name, "barrier") == 0) MPI_Barrier(other);
  if (strcmp(name, "dup") == 0) MPI_Comm_dup(MPI_COMM_WORLD, &made);
  if (strcmp(name, "split") == 0) MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &made);
  if (strcmp(name, "create") == 0) {
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Comm_create(MPI_COMM_WORLD, group, &made);
    MPI_Group_free(&group);
  }
  if (rank == 0) end();
  if (made != MPI_COMM_NULL) MPI_Barrier(made);
}

/* Rank 1 is in a send to a wildcard before it comes to the operation in which rank 0 is. */
static void with_wildcard(void) {
  int* const content = large(rank);
  MPI_Request receive = MPI_REQUEST_NULL;
  int greatest = 0;
  if (rank == 0) MPI_Irecv(content, LARGE, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &receive);
  if (rank == 1) MPI_Send(content, LARGE, MPI_INT, 0, TAG, MPI_COMM_WORLD);
  MPI_Allreduce(&rank, &greatest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Wait(&receive, MPI_STATUS_IGNORE);
  require(greatest == size - 1, "the greatest");
  if (rank == 0) check_large(content, 1);
  free(content);
}

/* Rank 0 begins all of them before rank 1 begins the first one. */
static void with_many(void) {
  static int given[MANY], got[MANY];
  static MPI_Request all[MANY];
  int go = 1;
  if (rank == 1) MPI_Recv(&go, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < MANY; ++i) {
    given[i] = rank + i;
    if (i % 2 == 0) MPI_Iallreduce(given + i, got + i, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, all + i);
    if (i % 2 != 0) {
      got[i] = rank == i % size ? i : -1;
      MPI_Ibcast(got + i, 1, MPI_INT, i % size, MPI_COMM_WORLD, all + i);
    }
  }
  if (rank == 0) MPI_Send(&go, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD);
  MPI_Waitall(MANY, all, MPI_STATUSES_IGNORE);
  for (int i = 0; i < MANY; ++i) {
    require(got[i] == (i % 2 == 0 ? size * (size - 1) / 2 + size * i : i), "one of many operations");
  }
}

int main(int argc, char** argv) {
  const char* const name = argc > 1 ? argv[1] : "recv";
  MPI_Comm other;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  if (strcmp(name, "wildcard") == 0) {
    with_wildcard();
  } else if (strcmp(name, "many") == 0) {
    with_many();
  } else if (strcmp(name, "barrier") == 0 || strcmp(name, "dup") == 0 || strcmp(name, "split") == 0 ||
             strcmp(name, "create") == 0) {
    with_all(name, other);
  } else {
    with_messages(name);
  }
  MPI_Comm_free(&other);
  if (!wrong) printf("FENIX-TEST-OK rank %d\n", rank);
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
