/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective functions that do not block, beside all else that a program may do meanwhile. */
#include "plain.h"

enum { MOST = 64, LARGE = 200000 };

static int sum_of_ranks(void) { return size * (size - 1) / 2; }

/* Each function alone. */
static void each(int round) {
  const int root = round % size, below = (rank + size - 1) % size, above = (rank + 1) % size;
  const int dims[] = {size}, periods[] = {1};
  int* sent = malloc((size_t)size * 2 * sizeof(int));
  int* got = malloc((size_t)size * 2 * sizeof(int));
  int *counts = malloc((size_t)size * sizeof(int)), *places = malloc((size_t)size * sizeof(int)),
      *bytes = malloc((size_t)size * sizeof(int));
  MPI_Datatype* types = malloc((size_t)size * sizeof(MPI_Datatype));
  MPI_Aint far[2] = {0, sizeof(int)};
  MPI_Comm ring;
  MPI_Request request;
  int i, value = round;
  for (i = 0; i < size; ++i) {
    counts[i] = 1;
    places[i] = size - 1 - i;
    bytes[i] = i * (int)sizeof(int);
    types[i] = MPI_INT;
    sent[i] = 100 * rank + i;
  }
  MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &ring);
#define WAIT (step(), MPI_Wait(&request, MPI_STATUS_IGNORE))
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  WAIT;
  value = rank == root ? 7 + round : -1;
  MPI_Ibcast(&value, 1, MPI_INT, root, MPI_COMM_WORLD, &request);
  WAIT;
  CHECK(value == 7 + round);
  MPI_Igather(sent, 1, MPI_INT, got, 1, MPI_INT, root, MPI_COMM_WORLD, &request);
  WAIT;
  for (i = 0; i < size && rank == root; ++i) CHECK(got[i] == 100 * i);
  MPI_Igatherv(sent + 1, 1, MPI_INT, got, counts, places, MPI_INT, root, MPI_COMM_WORLD, &request);
  WAIT;
  for (i = 0; i < size && rank == root; ++i) CHECK(got[places[i]] == 100 * i + 1);
  MPI_Iscatter(sent, 1, MPI_INT, got, 1, MPI_INT, root, MPI_COMM_WORLD, &request);
  WAIT;
  CHECK(got[0] == 100 * root + rank);
  MPI_Iscatterv(sent, counts, places, MPI_INT, got, 1, MPI_INT, root, MPI_COMM_WORLD, &request);
  WAIT;
  CHECK(got[0] == 100 * root + places[rank]);
  MPI_Iallgather(sent, 1, MPI_INT, got, 1, MPI_INT, MPI_COMM_WORLD, &request);
  WAIT;
  for (i = 0; i < size; ++i) CHECK(got[i] == 100 * i);
  MPI_Iallgatherv(sent, 1, MPI_INT, got, counts, places, MPI_INT, MPI_COMM_WORLD, &request);
  WAIT;
  for (i = 0; i < size; ++i) CHECK(got[places[i]] == 100 * i);
  MPI_Ialltoall(sent, 1, MPI_INT, got, 1, MPI_INT, MPI_COMM_WORLD, &request);
  WAIT;
  for (i = 0; i < size; ++i) CHECK(got[i] == 100 * i + rank);
  MPI_Ialltoallv(sent, counts, places, MPI_INT, got, counts, places, MPI_INT, MPI_COMM_WORLD, &request);
  WAIT;
  for (i = 0; i < size; ++i) CHECK(got[places[i]] == 100 * i + places[rank]);
  MPI_Ialltoallw(sent, counts, bytes, types, got, counts, bytes, types, MPI_COMM_WORLD, &request);
  WAIT;
  for (i = 0; i < size; ++i) CHECK(got[i] == 100 * i + rank);
  MPI_Ireduce(sent, got, size, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD, &request);
  WAIT;
  for (i = 0; i < size && rank == root; ++i) CHECK(got[i] == 100 * sum_of_ranks() + size * i);
  MPI_Iallreduce(sent, got, size, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &request);
  WAIT;
  for (i = 0; i < size; ++i) CHECK(got[i] == 100 * (size - 1) + i);
  MPI_Iscan(sent, got, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  WAIT;
  CHECK(got[0] == 50 * rank * (rank + 1));
  MPI_Iexscan(sent, got, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  WAIT;
  CHECK(rank == 0 || got[0] == 50 * rank * (rank - 1));
  MPI_Ireduce_scatter(sent, got, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  WAIT;
  CHECK(got[0] == 100 * sum_of_ranks() + size * rank);
  MPI_Ireduce_scatter_block(sent, got, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  WAIT;
  CHECK(got[0] == 100 * sum_of_ranks() + size * rank);
  MPI_Ineighbor_allgather(sent, 1, MPI_INT, got, 1, MPI_INT, ring, &request);
  WAIT;
  CHECK(got[0] == 100 * below && got[1] == 100 * above);
  places[0] = 1;
  places[1] = 0;
  MPI_Ineighbor_allgatherv(sent, 1, MPI_INT, got, counts, places, MPI_INT, ring, &request);
  WAIT;
  CHECK(got[1] == 100 * below && got[0] == 100 * above);
  if (size > 2) {
    MPI_Ineighbor_alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, ring, &request);
    WAIT;
    CHECK(got[0] == 100 * below + 1 && got[1] == 100 * above);
    MPI_Ineighbor_alltoallv(sent, counts, places, MPI_INT, got, counts, places, MPI_INT, ring, &request);
    WAIT;
    CHECK(got[1] == 100 * below && got[0] == 100 * above + 1);
    MPI_Ineighbor_alltoallw(sent, counts, far, types, got, counts, far, types, ring, &request);
    WAIT;
    CHECK(got[0] == 100 * below + 1 && got[1] == 100 * above);
  }
  MPI_Comm_free(&ring);
  free(sent);
  free(got);
  free(counts);
  free(places);
  free(bytes);
  free(types);
}

/* So many at once, waited for in another order. */
static void many(int round) {
  int sent[MOST], got[MOST], word[MOST], i;
  MPI_Request requests[3 * MOST], request;
  for (i = 0; i < MOST; ++i) {
    sent[i] = rank * (i + 1) + round;
    word[i] = rank == i % size ? 100 * i + round : -1;
    MPI_Iallreduce(&sent[i], &got[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[i]);
    MPI_Ibcast(&word[i], 1, MPI_INT, i % size, MPI_COMM_WORLD, &requests[MOST + i]);
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[2 * MOST + i]);
    if (i % 20 == 10) step();
  }
  step();
  for (i = 0; i < MOST / 2; ++i) {
    request = requests[MOST - 1 - i];
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    requests[MOST - 1 - i] = request;
  }
  MPI_Waitall(3 * MOST, requests, MPI_STATUSES_IGNORE);
  for (i = 0; i < MOST; ++i) CHECK(got[i] == sum_of_ranks() * (i + 1) + size * round && word[i] == 100 * i + round);
}

/* More than one wants to wait for: one rank begins all of them before the others begin any. */
static void ahead(int round) {
  int sent[MOST], got[MOST], i, token = round;
  MPI_Request requests[MOST];
  const int first = round % size;
  if (rank != first) MPI_Recv(&token, 1, MPI_INT, first, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (i = 0; i < MOST; ++i) {
    sent[i] = rank + i;
    MPI_Iallreduce(&sent[i], &got[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[i]);
  }
  step();
  for (i = 0; i < size && rank == first; ++i) {
    if (i != first) MPI_Send(&token, 1, MPI_INT, i, 1, MPI_COMM_WORLD);
  }
  MPI_Waitall(MOST, requests, MPI_STATUSES_IGNORE);
  for (i = 0; i < MOST; ++i) CHECK(got[i] == sum_of_ranks() + size * i);
}

/* The calls in which a rank can wait while the others wait for its part of a collective function. */
enum {
  RECV,
  ANY,
  PROBE,
  MATCHED,
  SENDRECV,
  SYNCHRONOUS,
  SEND_LARGE,
  WAIT_ONE,
  WAIT_ANY,
  WAIT_SOME,
  BARRIER,
  BCAST,
  ALLREDUCE,
  DUP,
  SPLIT,
  CART,
  WAYS
};

/* The rank that waits first. */
static void wait_for(int way, int other, MPI_Comm both, int round, char* large) {
  int value = -1, number = rank, index = 0, indices[1];
  MPI_Request request;
  MPI_Status status;
  MPI_Message message;
  MPI_Comm made = MPI_COMM_NULL;
  const int dims[] = {2}, periods[] = {0};
  switch (way) {
    case RECV:
      MPI_Recv(&value, 1, MPI_INT, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      break;
    case ANY:
      MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      break;
    case PROBE:
      MPI_Probe(other, 1, MPI_COMM_WORLD, &status);
      MPI_Recv(&value, 1, MPI_INT, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      break;
    case MATCHED:
      MPI_Mprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &message, &status);
      MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
      break;
    case SENDRECV:
      MPI_Sendrecv(&number, 1, MPI_INT, other, 2, &value, 1, MPI_INT, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      break;
    case SYNCHRONOUS:
      MPI_Ssend(&round, 1, MPI_INT, other, 1, MPI_COMM_WORLD);
      break;
    case SEND_LARGE:
      fill(large, LARGE, rank, round);
      MPI_Send(large, LARGE, MPI_BYTE, other, 1, MPI_COMM_WORLD);
      break;
    case WAIT_ONE:
    case WAIT_ANY:
    case WAIT_SOME:
      MPI_Irecv(&value, 1, MPI_INT, other, 1, MPI_COMM_WORLD, &request);
      if (way == WAIT_ONE) MPI_Wait(&request, MPI_STATUS_IGNORE);
      if (way == WAIT_ANY) MPI_Waitany(1, &request, &index, MPI_STATUS_IGNORE);
      if (way == WAIT_SOME) MPI_Waitsome(1, &request, &index, indices, MPI_STATUSES_IGNORE);
      break;
    case BARRIER:
      MPI_Barrier(both);
      break;
    case BCAST:
      MPI_Bcast(&value, 1, MPI_INT, 1, both);
      break;
    case ALLREDUCE:
      MPI_Allreduce(&round, &value, 1, MPI_INT, MPI_MAX, both);
      break;
    case DUP:
      MPI_Comm_dup(both, &made);
      break;
    case SPLIT:
      MPI_Comm_split(both, 0, 0, &made);
      break;
    default:
      MPI_Cart_create(both, 1, dims, periods, 0, &made);
  }
  if (made != MPI_COMM_NULL) MPI_Comm_free(&made);
  CHECK(way == SYNCHRONOUS || way == SEND_LARGE || way == BARRIER || way >= DUP || value == round);
}

/* The rank that it waits for, which waits for the collective function first. */
static void serve(int way, int other, MPI_Comm both, int round, char* large) {
  int value = -1;
  MPI_Comm made = MPI_COMM_NULL;
  const int dims[] = {2}, periods[] = {0};
  switch (way) {
    case SYNCHRONOUS:
      MPI_Recv(&value, 1, MPI_INT, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      CHECK(value == round);
      break;
    case SEND_LARGE:
      MPI_Recv(large, LARGE, MPI_BYTE, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      expect(large, LARGE, other, round);
      break;
    case SENDRECV:
      MPI_Sendrecv(&round, 1, MPI_INT, other, 1, &value, 1, MPI_INT, other, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      CHECK(value == other);
      break;
    case BARRIER:
      MPI_Barrier(both);
      break;
    case BCAST:
      MPI_Bcast(&round, 1, MPI_INT, 1, both);
      break;
    case ALLREDUCE:
      MPI_Allreduce(&round, &value, 1, MPI_INT, MPI_MAX, both);
      break;
    case DUP:
      MPI_Comm_dup(both, &made);
      break;
    case SPLIT:
      MPI_Comm_split(both, 0, 0, &made);
      break;
    case CART:
      MPI_Cart_create(both, 1, dims, periods, 0, &made);
      break;
    default:
      MPI_Send(&round, 1, MPI_INT, other, 1, MPI_COMM_WORLD);
  }
  if (made != MPI_COMM_NULL) MPI_Comm_free(&made);
}

/* One rank waits for another one, which waits for a collective function that the first one has begun and not waited for. */
static void overlap(int round) {
  const int first = round % size, second = (round + 1) % size;
  char* large = malloc(LARGE);
  MPI_Comm both = MPI_COMM_NULL;
  int way, sum;
  MPI_Comm_split(MPI_COMM_WORLD, rank == first || rank == second ? 0 : MPI_UNDEFINED, rank == first ? 0 : 1, &both);
  for (way = 0; way < WAYS; ++way) {
    MPI_Request request;
    sum = -1;
    MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    if (way % 4 == round % 4) step();
    if (rank == first) wait_for(way, second, both, round, large);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank == second) serve(way, first, both, round, large);
    CHECK(sum == sum_of_ranks());
  }
  if (both != MPI_COMM_NULL) MPI_Comm_free(&both);
  free(large);
}

/* A receive with a wildcard is open while its rank is in a collective function, and the sender cannot go on without it. */
static void wildcards(int round) {
  const int first = round % size, second = (round + 1) % size;
  char* large = malloc(LARGE);
  int way;
  for (way = 0; way < 5; ++way) {
    int sum = -1;
    MPI_Request requests[2];
    requests[0] = requests[1] = MPI_REQUEST_NULL;
    if (rank == first) MPI_Irecv(large, LARGE, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);
    step();
    if (rank == second) {
      fill(large, LARGE, rank, round + way);
      MPI_Ssend(large, LARGE, MPI_BYTE, first, way, MPI_COMM_WORLD);
    }
    if (way == 0) MPI_Barrier(MPI_COMM_WORLD);
    if (way == 1) MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (way == 2) {
      MPI_Comm made;
      MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &made);
      MPI_Comm_free(&made);
    }
    if (way == 3) {
      MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[1]);
      MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    }
    if (way == 4) MPI_Ibarrier(MPI_COMM_WORLD, &requests[1]);
    CHECK(way % 2 == 0 || sum == sum_of_ranks());
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    if (rank == first) expect(large, LARGE, second, round + way);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  free(large);
}

/* Requests of all kinds in the functions that test and wait. */
static void mixed(int round) {
  int sum = -1, got = -1, word = rank == 0 ? round : -1, way, index, flag, count, indices[4];
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  MPI_Request requests[4];
  for (way = 0; way < 4; ++way) {
    sum = got = -1;
    MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, way, MPI_COMM_WORLD, &requests[0]);
    MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(&rank, 1, MPI_INT, right, way, MPI_COMM_WORLD, &requests[2]);
    MPI_Ibcast(&word, 1, MPI_INT, 0, MPI_COMM_WORLD, &requests[3]);
    step();
    if (way == 0) {
      for (flag = 0; !flag;) MPI_Testall(4, requests, &flag, MPI_STATUSES_IGNORE);
    } else if (way == 1) {
      for (count = 0; count < 4; ++count) MPI_Waitany(4, requests, &index, MPI_STATUS_IGNORE);
    } else if (way == 2) {
      for (count = 0; count < 4; count += flag) MPI_Testsome(4, requests, &flag, indices, MPI_STATUSES_IGNORE);
    } else {
      for (count = 3; count >= 0; --count) {
        for (flag = 0; !flag;) MPI_Test(&requests[count], &flag, MPI_STATUS_IGNORE);
      }
    }
    CHECK(sum == sum_of_ranks() && got == left && word == round);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

/* On several communicators at once, begun in different orders. */
static void communicators(int round) {
  MPI_Comm comms[3];
  MPI_Request requests[3];
  int sums[3], i;
  MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comms[1]);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comms[2]);
  for (i = 0; i < 3; ++i) {
    const int which = (i + rank + round) % 3;
    MPI_Iallreduce(&rank, &sums[which], 1, MPI_INT, MPI_SUM, comms[which], &requests[which]);
    step();
  }
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  CHECK(sums[0] == sum_of_ranks() && sums[2] == sum_of_ranks());
  for (i = rank % 2; i < size; i += 2) sums[1] -= i;
  CHECK(sums[1] == 0);
  for (i = 0; i < 3; ++i) MPI_Comm_free(&comms[i]);
}

/* Persistent collective functions, started again and again. */
static void persistent(int round) {
  int sent = 0, sum = 0, word = 0, i, turn;
  int *all = malloc((size_t)size * sizeof(int)), *mine = malloc((size_t)size * sizeof(int)),
      *swapped = malloc((size_t)size * sizeof(int));
  MPI_Request requests[6];
  MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
  MPI_Bcast_init(&word, 1, MPI_INT, size - 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
  MPI_Allreduce_init(&sent, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[2]);
  MPI_Allgather_init(&sent, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[3]);
  MPI_Alltoall_init(mine, 1, MPI_INT, swapped, 1, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[4]);
  MPI_Reduce_init(&sent, &i, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[5]);
  for (turn = 0; turn < 3; ++turn) {
    int r;
    sent = 10 * rank + turn + round;
    word = rank == size - 1 ? sent : -1;
    for (r = 0; r < size; ++r) mine[r] = sent + 1000 * r;
    step();
    MPI_Startall(6, requests);
    step();
    MPI_Waitall(6, requests, MPI_STATUSES_IGNORE);
    CHECK(sum == 10 * sum_of_ranks() + size * (turn + round) && word == 10 * (size - 1) + turn + round);
    for (r = 0; r < size; ++r) CHECK(all[r] == 10 * r + turn + round && swapped[r] == all[r] + 1000 * rank);
    CHECK(rank != 0 || i == word);
    MPI_Start(&requests[2]);
    MPI_Wait(&requests[2], MPI_STATUS_IGNORE);
  }
  for (i = 0; i < 6; ++i) MPI_Request_free(&requests[i]);
  free(all);
  free(mine);
  free(swapped);
}

static void add(void* in, void* inout, int* count, MPI_Datatype* type) {
  int i;
  (void)type;
  for (i = 0; i < *count; ++i) ((int*)inout)[i] += ((int*)in)[i];
}

static void take_greater(void* in, void* inout, int* count, MPI_Datatype* type) {
  int i;
  (void)type;
  for (i = 0; i < *count; ++i) {
    if (((int*)in)[i] > ((int*)inout)[i]) ((int*)inout)[i] = ((int*)in)[i];
  }
}

/* Operations that are freed while their reductions are under way, and others that are made meanwhile. */
static void freed_operations(int round) {
  int value = rank + round, sum = -1, greatest = -1, word = -1;
  MPI_Op op;
  MPI_Request requests[2];
  MPI_Op_create(add, 1, &op);
  MPI_Iallreduce(&value, &sum, 1, MPI_INT, op, MPI_COMM_WORLD, &requests[0]);
  MPI_Op_free(&op);
  CHECK(op == MPI_OP_NULL);
  step();
  MPI_Op_create(take_greater, 1, &op);
  MPI_Iallreduce(&value, &greatest, 1, MPI_INT, op, MPI_COMM_WORLD, &requests[1]);
  MPI_Op_free(&op);
  MPI_Sendrecv(&value, 1, MPI_INT, (rank + 1) % size, 1, &word, 1, MPI_INT, (rank + size - 1) % size, 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  step();
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  CHECK(sum == sum_of_ranks() + size * round && greatest == size - 1 + round);
}

static const struct Case cases[] = {{"each", each},
                                    {"many", many},
                                    {"ahead", ahead},
                                    {"overlap", overlap},
                                    {"wildcards", wildcards},
                                    {"mixed", mixed},
                                    {"communicators", communicators},
                                    {"persistent", persistent},
                                    {"freed_operations", freed_operations}};

int main(int argc, char** argv) { return run_cases(argc, argv, cases, COUNT_OF(cases)); }
