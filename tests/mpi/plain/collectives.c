/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocking collective functions. */
#include "plain.h"

enum { WORDS = 5 };

static int *sent, *got, *counts, *places;

/* Memory for WORDS numbers of each rank. */
static void make(void) {
  const size_t words = (size_t)(size * size * WORDS + 8);
  sent = malloc(words * sizeof(int));
  got = malloc(words * sizeof(int));
  counts = malloc((size_t)size * sizeof(int));
  places = malloc((size_t)size * sizeof(int));
}

static void unmake(void) {
  free(sent);
  free(got);
  free(counts);
  free(places);
}

/* The number that one rank has for another one. */
static int value_of(int from, int to, int i, int round) { return from * 10000 + to * 100 + i * 10 + round; }

static void clear(void) {
  int i;
  for (i = 0; i < size * size * WORDS + 8; ++i) got[i] = -1;
}

static void basic(int round) {
  const int root = round % size;
  int i, j, sum = size * (size - 1) / 2, word = -1;
  make();
  step();
  MPI_Barrier(MPI_COMM_WORLD);
  for (i = 0; i < WORDS; ++i) sent[i] = value_of(rank, root, i, round);
  step();
  MPI_Bcast(sent, WORDS, MPI_INT, root, MPI_COMM_WORLD);
  for (i = 0; i < WORDS; ++i) CHECK(sent[i] == value_of(root, root, i, round));
  for (i = 0; i < WORDS; ++i) sent[i] = value_of(rank, root, i, round);
  clear();
  step();
  MPI_Gather(sent, WORDS, MPI_INT, got, WORDS, MPI_INT, root, MPI_COMM_WORLD);
  for (j = 0; j < size && rank == root; ++j) {
    for (i = 0; i < WORDS; ++i) CHECK(got[j * WORDS + i] == value_of(j, root, i, round));
  }
  clear();
  step();
  MPI_Allgather(sent, WORDS, MPI_INT, got, WORDS, MPI_INT, MPI_COMM_WORLD);
  for (j = 0; j < size; ++j) {
    for (i = 0; i < WORDS; ++i) CHECK(got[j * WORDS + i] == value_of(j, root, i, round));
  }
  for (j = 0; j < size; ++j) {
    for (i = 0; i < WORDS; ++i) sent[j * WORDS + i] = value_of(rank, j, i, round);
  }
  clear();
  step();
  MPI_Scatter(sent, WORDS, MPI_INT, got, WORDS, MPI_INT, root, MPI_COMM_WORLD);
  for (i = 0; i < WORDS; ++i) CHECK(got[i] == value_of(root, rank, i, round));
  clear();
  step();
  MPI_Alltoall(sent, WORDS, MPI_INT, got, WORDS, MPI_INT, MPI_COMM_WORLD);
  for (j = 0; j < size; ++j) {
    for (i = 0; i < WORDS; ++i) CHECK(got[j * WORDS + i] == value_of(j, rank, i, round));
  }
  clear();
  step();
  MPI_Reduce(sent, got, WORDS, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
  for (i = 0; i < WORDS && rank == root; ++i) CHECK(got[i] == 10000 * sum + size * value_of(0, 0, i, round));
  step();
  MPI_Allreduce(sent, got, WORDS, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  for (i = 0; i < WORDS; ++i) CHECK(got[i] == value_of(size - 1, 0, i, round));
  step();
  MPI_Scan(sent, got, WORDS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (i = 0; i < WORDS; ++i) CHECK(got[i] == 10000 * (rank * (rank + 1) / 2) + (rank + 1) * value_of(0, 0, i, round));
  clear();
  step();
  MPI_Exscan(sent, got, WORDS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (i = 0; i < WORDS && rank > 0; ++i)
    CHECK(got[i] == 10000 * (rank * (rank - 1) / 2) + rank * value_of(0, 0, i, round));
  step();
  MPI_Reduce_scatter_block(sent, got, WORDS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (i = 0; i < WORDS; ++i) CHECK(got[i] == 10000 * sum + size * value_of(0, rank, i, round));
  for (j = 0; j < size; ++j) counts[j] = j == 0 ? 2 * WORDS : j == 1 ? 0 : WORDS;
  clear();
  step();
  MPI_Reduce_scatter(sent, got, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (i = 0; i < WORDS && rank != 1; ++i) CHECK(got[i] == 10000 * sum + size * value_of(0, rank, i, round));
  CHECK(got[rank == 0 ? 2 * WORDS : rank == 1 ? 0 : WORDS] == -1);
  step();
  MPI_Bcast(&word, 0, MPI_INT, root, MPI_COMM_WORLD);
  CHECK(word == -1);
  unmake();
}

/* Forms with as many elements as each rank likes: i of rank i, none of rank 0. */
static void vectors(int round) {
  const int root = (round + 1) % size;
  int i, j, all = 0;
  MPI_Datatype* types;
  make();
  types = malloc((size_t)size * sizeof(MPI_Datatype));
  for (j = 0; j < size; ++j) {
    counts[j] = j;
    places[j] = all + 1; /* with one element between two blocks */
    all += j + 1;
    types[j] = MPI_INT;
  }
  for (i = 0; i < size; ++i) sent[i] = value_of(rank, 0, i, round);
  clear();
  step();
  MPI_Gatherv(sent, rank, MPI_INT, got, counts, places, MPI_INT, root, MPI_COMM_WORLD);
  for (j = 0; j < size && rank == root; ++j) {
    for (i = 0; i < j; ++i) CHECK(got[places[j] + i] == value_of(j, 0, i, round));
    CHECK(got[places[j] - 1] == -1);
  }
  clear();
  step();
  MPI_Allgatherv(sent, rank, MPI_INT, got, counts, places, MPI_INT, MPI_COMM_WORLD);
  for (j = 0; j < size; ++j) {
    for (i = 0; i < j; ++i) CHECK(got[places[j] + i] == value_of(j, 0, i, round));
    CHECK(got[places[j] - 1] == -1);
  }
  for (j = 0; j < size; ++j) {
    for (i = 0; i < j; ++i) sent[places[j] + i] = value_of(root, j, i, round);
  }
  clear();
  step();
  MPI_Scatterv(sent, counts, places, MPI_INT, got, rank, MPI_INT, root, MPI_COMM_WORLD);
  for (i = 0; i < rank; ++i) CHECK(got[i] == value_of(root, rank, i, round));
  CHECK(got[rank] == -1);
  /* Rank i gives rank j as many elements as min(i, j). */
  for (j = 0; j < size; ++j) {
    counts[j] = rank < j ? rank : j;
    places[j] = j * size;
    for (i = 0; i < counts[j]; ++i) sent[places[j] + i] = value_of(rank, j, i, round);
  }
  clear();
  step();
  MPI_Alltoallv(sent, counts, places, MPI_INT, got, counts, places, MPI_INT, MPI_COMM_WORLD);
  for (j = 0; j < size; ++j) {
    for (i = 0; i < counts[j]; ++i) CHECK(got[places[j] + i] == value_of(j, rank, i, round));
    CHECK(got[places[j] + counts[j]] == -1);
  }
  for (j = 0; j < size; ++j) places[j] *= (int)sizeof(int);
  clear();
  step();
  MPI_Alltoallw(sent, counts, places, types, got, counts, places, types, MPI_COMM_WORLD);
  for (j = 0; j < size; ++j) {
    for (i = 0; i < counts[j]; ++i) CHECK(got[j * size + i] == value_of(j, rank, i, round));
  }
  free(types);
  unmake();
}

/* Functions whose input is where their output will be. */
static void in_place(int round) {
  const int root = round % size;
  int i, j;
  make();
  for (i = 0; i < WORDS; ++i) got[rank * WORDS + i] = value_of(rank, 0, i, round);
  step();
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, got, WORDS, MPI_INT, MPI_COMM_WORLD);
  for (j = 0; j < size; ++j) {
    for (i = 0; i < WORDS; ++i) CHECK(got[j * WORDS + i] == value_of(j, 0, i, round));
  }
  for (j = 0; j < size; ++j) {
    counts[j] = WORDS;
    places[j] = j * WORDS;
    for (i = 0; i < WORDS; ++i) got[j * WORDS + i] = value_of(rank, j, i, round);
  }
  step();
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, got, WORDS, MPI_INT, MPI_COMM_WORLD);
  for (j = 0; j < size; ++j) {
    for (i = 0; i < WORDS; ++i) CHECK(got[j * WORDS + i] == value_of(j, rank, i, round));
  }
  for (j = 0; j < size; ++j) {
    for (i = 0; i < WORDS; ++i) got[j * WORDS + i] = value_of(rank, j, i, round);
  }
  step();
  MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, got, counts, places, MPI_INT, MPI_COMM_WORLD);
  for (j = 0; j < size; ++j) {
    for (i = 0; i < WORDS; ++i) CHECK(got[j * WORDS + i] == value_of(j, rank, i, round));
  }
  for (i = 0; i < WORDS; ++i) got[rank * WORDS + i] = value_of(rank, 1, i, round);
  step();
  if (rank == root) {
    MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, got, WORDS, MPI_INT, root, MPI_COMM_WORLD);
    for (j = 0; j < size * WORDS; ++j) CHECK(got[j] == value_of(j / WORDS, 1, j % WORDS, round));
    MPI_Scatter(got, WORDS, MPI_INT, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, root, MPI_COMM_WORLD);
  } else {
    MPI_Gather(got + rank * WORDS, WORDS, MPI_INT, NULL, 0, MPI_DATATYPE_NULL, root, MPI_COMM_WORLD);
    clear();
    MPI_Scatter(NULL, 0, MPI_DATATYPE_NULL, got + rank * WORDS, WORDS, MPI_INT, root, MPI_COMM_WORLD);
  }
  for (i = 0; i < WORDS; ++i) CHECK(got[rank * WORDS + i] == value_of(rank, 1, i, round));
  got[0] = rank + round;
  step();
  MPI_Allreduce(MPI_IN_PLACE, got, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(got[0] == size * (size - 1) / 2 + size * round);
  got[0] = 1;
  step();
  MPI_Scan(MPI_IN_PLACE, got, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(got[0] == rank + 1);
  got[0] = 2;
  MPI_Exscan(MPI_IN_PLACE, got, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(rank == 0 || got[0] == 2 * rank);
  got[0] = rank;
  step();
  MPI_Reduce(rank == root ? MPI_IN_PLACE : got, got, 1, MPI_INT, MPI_MAX, root, MPI_COMM_WORLD);
  CHECK(got[0] == (rank == root ? size - 1 : rank));
  for (j = 0; j < size; ++j) got[j] = j;
  step();
  MPI_Reduce_scatter_block(MPI_IN_PLACE, got, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(got[0] == size * rank);
  unmake();
}

struct Matrix {
  unsigned a, b, c, d;
};

/* A product that depends on the order of its factors. */
static void multiply(void* in, void* inout, int* length, MPI_Datatype* type) {
  const struct Matrix* left = in;
  struct Matrix* right = inout;
  int i;
  (void)type;
  for (i = 0; i < *length; ++i) {
    const struct Matrix made = {
        left[i].a * right[i].a + left[i].b * right[i].c, left[i].a * right[i].b + left[i].b * right[i].d,
        left[i].c * right[i].a + left[i].d * right[i].c, left[i].c * right[i].b + left[i].d * right[i].d};
    right[i] = made;
  }
}

/* Dies now and then inside of MPI's call, when a rank is told to die there. */
static void add_slowly(void* in, void* inout, int* length, MPI_Datatype* type) {
  int i;
  (void)type;
  step();
  for (i = 0; i < *length; ++i) ((int*)inout)[i] += ((int*)in)[i];
}

static struct Matrix matrix_of(int from, int round) {
  const struct Matrix made = {(unsigned)from + 1, (unsigned)round, 3, (unsigned)from + 2};
  return made;
}

static int is_product(const struct Matrix* found, int ranks, int round) {
  struct Matrix wanted = matrix_of(0, round);
  int one = 1, i;
  for (i = 1; i < ranks; ++i) {
    struct Matrix next = matrix_of(i, round);
    multiply(&wanted, &next, &one, NULL);
    wanted = next;
  }
  return memcmp(&wanted, found, sizeof(wanted)) == 0;
}

static void operations(int round) {
  struct Matrix own[2], made[2];
  struct {
    double value;
    int place;
  } pair, least;
  int numbers[3], sums[3], i;
  MPI_Datatype type;
  MPI_Op product, sum;
  own[0] = own[1] = matrix_of(rank, round);
  MPI_Type_contiguous(4, MPI_UNSIGNED, &type);
  MPI_Type_commit(&type);
  MPI_Op_create(multiply, 0, &product);
  MPI_Op_create(add_slowly, 1, &sum);
  step();
  MPI_Allreduce(own, made, 2, type, product, MPI_COMM_WORLD);
  CHECK(is_product(&made[0], size, round) && is_product(&made[1], size, round));
  step();
  MPI_Reduce(own, made, 2, type, product, size - 1, MPI_COMM_WORLD);
  CHECK(rank != size - 1 || is_product(&made[1], size, round));
  step();
  MPI_Scan(own, made, 1, type, product, MPI_COMM_WORLD);
  CHECK(is_product(&made[0], rank + 1, round));
  for (i = 0; i < 3; ++i) numbers[i] = rank + i + round;
  step();
  MPI_Allreduce(numbers, sums, 3, MPI_INT, sum, MPI_COMM_WORLD);
  for (i = 0; i < 3; ++i) CHECK(sums[i] == size * (size - 1) / 2 + size * (i + round));
  pair.value = (rank - round) * (rank - round);
  pair.place = rank;
  step();
  MPI_Allreduce(&pair, &least, 1, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD);
  CHECK(least.place == (round < size ? round : size - 1));
  MPI_Reduce_local(numbers, sums, 3, MPI_INT, MPI_SUM);
  CHECK(sums[0] == size * (size - 1) / 2 + size * round + rank + round);
  MPI_Op_free(&product);
  MPI_Op_free(&sum);
  MPI_Type_free(&type);
}

/* Collective functions of neighbours, on a ring and on a graph. */
static void neighbours(int round) {
  const int dims[] = {size}, periods[] = {1};
  const int below = (rank + size - 1) % size, above = (rank + 1) % size;
  const int sources[] = {below}, targets[] = {above};
  int sums[6], two[2], i, count[2] = {1, 1}, place[2] = {1, 0};
  MPI_Aint bytes[2] = {sizeof(int), 0};
  MPI_Datatype types[2];
  MPI_Comm ring, graph;
  types[0] = types[1] = MPI_INT;
  MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &ring);
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, sources, MPI_UNWEIGHTED, 1, targets, MPI_UNWEIGHTED, MPI_INFO_NULL,
                                 0, &graph);
  i = 10 * rank + round;
  step();
  MPI_Neighbor_allgather(&i, 1, MPI_INT, two, 1, MPI_INT, ring);
  CHECK(two[0] == 10 * below + round && two[1] == 10 * above + round);
  step();
  MPI_Neighbor_allgather(&i, 1, MPI_INT, sums, 1, MPI_INT, graph);
  CHECK(sums[0] == 10 * below + round);
  two[0] = 100 * rank;
  two[1] = 100 * rank + 1;
  step();
  if (size > 2) {
    MPI_Neighbor_alltoall(two, 1, MPI_INT, sums, 1, MPI_INT, ring);
    CHECK(sums[0] == 100 * below + 1 && sums[1] == 100 * above);
    MPI_Neighbor_alltoallv(two, count, place, MPI_INT, sums, count, place, MPI_INT, ring);
    CHECK(sums[1] == 100 * below && sums[0] == 100 * above + 1);
    step();
    MPI_Neighbor_alltoallw(two, count, bytes, types, sums, count, bytes, types, ring);
    CHECK(sums[1] == 100 * below && sums[0] == 100 * above + 1);
  }
  MPI_Neighbor_allgatherv(&i, 1, MPI_INT, sums, count, place, MPI_INT, ring);
  CHECK(sums[1] == 10 * below + round && sums[0] == 10 * above + round);
  MPI_Comm_free(&ring);
  MPI_Comm_free(&graph);
}

/* Much data: other ways inside of MPI. */
static void large(int round) {
  const int words = 100000;
  double* numbers = malloc((size_t)words * sizeof(double));
  double* sums = malloc((size_t)words * sizeof(double));
  char* all = malloc((size_t)size * 50000);
  int i;
  for (i = 0; i < words; ++i) numbers[i] = rank + i;
  step();
  MPI_Allreduce(numbers, sums, words, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (i = 0; i < words; ++i) CHECK(sums[i] == size * (size - 1) / 2 + (double)size * i);
  fill(all + 50000 * rank, 50000, rank, round);
  step();
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_BYTE, all, 50000, MPI_BYTE, MPI_COMM_WORLD);
  for (i = 0; i < size; ++i) expect(all + 50000 * i, 50000, i, round);
  fill(numbers, 800000, rank, round);
  step();
  MPI_Bcast(numbers, words, MPI_DOUBLE, round % size, MPI_COMM_WORLD);
  expect(numbers, 800000, round % size, round);
  free(numbers);
  free(sums);
  free(all);
}

/* Communicators of one rank. */
static void alone(int round) {
  int value = 10 * rank + round, got = -1, i;
  const int dims[] = {1}, periods[] = {1};
  MPI_Comm comms[4];
  comms[0] = MPI_COMM_SELF;
  MPI_Comm_dup(MPI_COMM_SELF, &comms[1]);
  MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &comms[2]);
  MPI_Cart_create(comms[2], 1, dims, periods, 0, &comms[3]);
  for (i = 0; i < 4; ++i) {
    MPI_Request request;
    step();
    MPI_Barrier(comms[i]);
    MPI_Allreduce(&value, &got, 1, MPI_INT, MPI_SUM, comms[i]);
    CHECK(got == value);
    got = -1;
    MPI_Alltoall(&value, 1, MPI_INT, &got, 1, MPI_INT, comms[i]);
    CHECK(got == value);
    got = -1;
    MPI_Iallgather(&value, 1, MPI_INT, &got, 1, MPI_INT, comms[i], &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(got == value);
    MPI_Bcast(&got, 1, MPI_INT, 0, comms[i]);
    got = -1;
    MPI_Sendrecv(&value, 1, MPI_INT, 0, 1, &got, 1, MPI_INT, 0, 1, comms[i], MPI_STATUS_IGNORE);
    CHECK(got == value);
    MPI_Sendrecv_replace(&value, 1, MPI_INT, (rank + 1) % size, 2, (rank + size - 1) % size, 2, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
  }
  CHECK(value == 10 * (((rank - 4) % size + size) % size) + round);
  for (i = 1; i < 4; ++i) MPI_Comm_free(&comms[i]);
}

/* Blocks without elements: one side says so by a count of 0, the other one by a type without bytes. */
static void no_bytes(int round) {
  int* counts = malloc((size_t)size * sizeof(int));
  int* zeros = calloc((size_t)size, sizeof(int));
  int* mine = malloc((size_t)size * sizeof(int));
  int* got = malloc((size_t)size * sizeof(int));
  MPI_Datatype* types = malloc((size_t)size * sizeof(MPI_Datatype));
  MPI_Datatype* plain = malloc((size_t)size * sizeof(MPI_Datatype));
  MPI_Datatype empty;
  int i;
  MPI_Type_contiguous(0, MPI_INT, &empty);
  MPI_Type_commit(&empty);
  for (i = 0; i < size; ++i) {
    counts[i] = 1;
    types[i] = empty;
    plain[i] = MPI_INT;
    mine[i] = 100 * rank + i + round;
  }
  step();
  MPI_Gather(mine, 1, empty, got, 0, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Gatherv(mine, 0, MPI_INT, got, counts, zeros, empty, 1 % size, MPI_COMM_WORLD);
  step();
  MPI_Scatterv(mine, counts, zeros, empty, got, 0, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Alltoallw(mine, counts, zeros, types, got, zeros, zeros, plain, MPI_COMM_WORLD);
  step();
  MPI_Alltoallw(mine, zeros, zeros, plain, got, counts, zeros, types, MPI_COMM_WORLD);
  /* No message must be left for this one. */
  MPI_Alltoall(mine, 1, MPI_INT, got, 1, MPI_INT, MPI_COMM_WORLD);
  for (i = 0; i < size; ++i) CHECK(got[i] == 100 * i + rank + round);
  MPI_Type_free(&empty);
  free(counts);
  free(zeros);
  free(mine);
  free(got);
  free(types);
  free(plain);
}

static const struct Case cases[] = {{"basic", basic},           {"vectors", vectors},       {"in_place", in_place},
                                    {"operations", operations}, {"neighbours", neighbours}, {"large", large},
                                    {"alone", alone},           {"no_bytes", no_bytes}};

int main(int argc, char** argv) { return run_cases(argc, argv, cases, COUNT_OF(cases)); }
