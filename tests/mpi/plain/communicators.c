/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators that the program makes: each is made at a step, used, and freed. */
#include "plain.h"

/* The sum of what all members of a communicator give. */
static int sum_on(MPI_Comm comm, int value) {
  int sum = -1;
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm);
  return sum;
}

static int rank_on(MPI_Comm comm) {
  int number = -1;
  MPI_Comm_rank(comm, &number);
  return number;
}

static int size_of(MPI_Comm comm) {
  int number = -1;
  MPI_Comm_size(comm, &number);
  return number;
}

/* Sends a number around the ranks of a communicator, beside one on MPI_COMM_WORLD with the same tag. */
static void use(MPI_Comm comm, int round) {
  const int members = size_of(comm), own = rank_on(comm);
  int value = 1000 * own + round, got = -1, other = -1;
  MPI_Request request;
  MPI_Irecv(&other, 1, MPI_INT, (rank + size - 1) % size, 9, MPI_COMM_WORLD, &request);
  MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 9, MPI_COMM_WORLD);
  MPI_Sendrecv(&value, 1, MPI_INT, (own + 1) % members, 9, &got, 1, MPI_INT, (own + members - 1) % members, 9, comm,
               MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(got == 1000 * ((own + members - 1) % members) + round && other == (rank + size - 1) % size);
  CHECK(sum_on(comm, own) == members * (members - 1) / 2);
}

static void dup(int round) {
  MPI_Comm one, two;
  int result = -1;
  step();
  MPI_Comm_dup(MPI_COMM_WORLD, &one);
  step();
  MPI_Comm_dup_with_info(one, MPI_INFO_NULL, &two);
  MPI_Comm_compare(one, two, &result);
  CHECK(result == MPI_CONGRUENT && rank_on(two) == rank && size_of(two) == size);
  use(one, round);
  step();
  MPI_Comm_free(&one);
  CHECK(one == MPI_COMM_NULL);
  use(two, round);
  MPI_Comm_free(&two);
}

static void split(int round) {
  MPI_Comm half, turned, some;
  step();
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  CHECK(rank_on(half) == rank / 2);
  use(half, round);
  step();
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &turned);
  CHECK(rank_on(turned) == size - 1 - rank);
  use(turned, round);
  step();
  /* One rank takes no part. */
  MPI_Comm_split(turned, rank == round % size ? MPI_UNDEFINED : 5, rank, &some);
  CHECK((some == MPI_COMM_NULL) == (rank == round % size));
  if (some != MPI_COMM_NULL) CHECK(sum_on(some, 1) == size - 1);
  MPI_Comm_free(&half);
  step();
  MPI_Comm_free(&turned);
  if (some != MPI_COMM_NULL) CHECK(sum_on(some, rank) == size * (size - 1) / 2 - round % size);
  if (some != MPI_COMM_NULL) MPI_Comm_free(&some);
}

/* The ranks of each node, and of the first ones of all nodes. */
static void split_type(int round) {
  MPI_Comm node, leaders;
  int leader_count = -1;
  step();
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  use(node, round);
  step();
  MPI_Comm_split(MPI_COMM_WORLD, rank_on(node) == 0 ? 0 : MPI_UNDEFINED, rank, &leaders);
  if (leaders != MPI_COMM_NULL) leader_count = sum_on(leaders, size_of(node));
  MPI_Bcast(&leader_count, 1, MPI_INT, 0, node);
  CHECK(leader_count == size);
  step();
  if (leaders != MPI_COMM_NULL) MPI_Comm_free(&leaders);
  MPI_Comm_free(&node);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_UNDEFINED, rank, MPI_INFO_NULL, &node);
  CHECK(node == MPI_COMM_NULL);
}

static void create(int round) {
  const int ends[1][3] = {{0, size - 1, size > 2 ? 2 : 1}};
  MPI_Group world, every_second;
  MPI_Comm made;
  int number = -1;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_range_incl(world, 1, (int(*)[3])ends, &every_second);
  step();
  MPI_Comm_create(MPI_COMM_WORLD, every_second, &made);
  MPI_Group_rank(every_second, &number);
  CHECK((made == MPI_COMM_NULL) == (number == MPI_UNDEFINED));
  step();
  if (made != MPI_COMM_NULL) {
    CHECK(rank_on(made) == number);
    CHECK(sum_on(made, round) == round * size_of(made));
    MPI_Comm_free(&made);
  }
  MPI_Group_free(&every_second);
  MPI_Group_free(&world);
}

/* Only the members take part. */
static void create_group(int round) {
  MPI_Group world, without;
  MPI_Comm made = MPI_COMM_NULL;
  const int out = round % size;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_excl(world, 1, &out, &without);
  step();
  if (rank != out) {
    MPI_Comm_create_group(MPI_COMM_WORLD, without, 17, &made);
    step();
    CHECK(sum_on(made, 1) == size - 1);
    MPI_Comm_free(&made);
  }
  step();
  MPI_Group_free(&without);
  MPI_Group_free(&world);
}

/* Two communicators of one group, which tags tell apart. The ranks have a message on each, and one is freed. */
static void create_group_tags(int round) {
  MPI_Group world;
  MPI_Comm made[4] = {MPI_COMM_NULL, MPI_COMM_NULL, MPI_COMM_NULL, MPI_COMM_NULL}, part;
  int i;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  for (i = 0; i < 4; ++i) {
    step();
    MPI_Comm_create_group(MPI_COMM_WORLD, world, (7 * i + round) % 4, &made[i]);
  }
  for (i = 0; i < 4; ++i) {
    int next = -1;
    const int own = 100 * i + rank;
    step();
    MPI_Sendrecv(&own, 1, MPI_INT, (rank + 1) % size, 0, &next, 1, MPI_INT, (rank + size - 1) % size, 0, made[i],
                 MPI_STATUS_IGNORE);
    CHECK(next == 100 * i + (rank + size - 1) % size);
    if (i % 2 == 0) MPI_Comm_free(&made[i]);
  }
  step();
  MPI_Comm_split(made[1], rank % 2, 0, &part);
  step();
  CHECK(sum_on(part, 1) == (size + 1 - rank % 2) / 2);
  MPI_Comm_free(&part);
  MPI_Comm_free(&made[1]);
  MPI_Comm_free(&made[3]);
  MPI_Group_free(&world);
}

/* All but one rank of a grid. The new communicator is no grid. */
static void create_group_of_grid(int round) {
  const int periods[2] = {1, 1}, out = round % size;
  int dims[2] = {0, 0};
  MPI_Group all, without;
  MPI_Comm grid, made = MPI_COMM_NULL, copy;
  MPI_Dims_create(size, 2, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
  MPI_Comm_group(grid, &all);
  MPI_Group_excl(all, 1, &out, &without);
  step();
  if (rank_on(grid) != out) {
    MPI_Comm_create_group(grid, without, 3, &made);
    step();
    CHECK(sum_on(made, 1) == size - 1);
    MPI_Comm_dup(made, &copy);
    step();
    CHECK(sum_on(copy, 1) == size - 1);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&made);
  }
  step();
  MPI_Comm_free(&grid);
  MPI_Group_free(&without);
  MPI_Group_free(&all);
}

/* Small messages whose requests are freed are there when the communicator is disconnected. */
static void disconnect(int round) {
  enum { count = 10 };
  int sent[count], got[count];
  const int from = (rank + size - 1) % size;
  MPI_Request requests[2];
  MPI_Comm one;
  int i;
  MPI_Comm_dup(MPI_COMM_WORLD, &one);
  for (i = 0; i < count; ++i) sent[i] = i + rank + round;
  memset(got, 0xFF, sizeof(got));
  step();
  MPI_Irecv(got, count, MPI_INT, from, 0, one, &requests[0]);
  MPI_Isend(sent, count, MPI_INT, (rank + 1) % size, 0, one, &requests[1]);
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
  step();
  MPI_Comm_disconnect(&one);
  memset(sent, 0xFF, sizeof(sent));
  for (i = 0; i < count; ++i) CHECK(got[i] == i + from + round);
  step();
}

static void cart(int round) {
  int dims[2] = {0, 0}, place[2] = {-1, -1}, from, to, other, found;
  const int periods[2] = {1, 0};
  MPI_Comm grid;
  MPI_Dims_create(size, 2, dims);
  step();
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &grid);
  step();
  MPI_Cart_coords(grid, rank_on(grid), 2, place);
  MPI_Cart_rank(grid, place, &found);
  CHECK(found == rank_on(grid) && place[0] >= 0 && place[0] < dims[0] && place[1] >= 0 && place[1] < dims[1]);
  MPI_Cart_shift(grid, 0, 1, &from, &to);
  other = -1;
  MPI_Sendrecv(&place[1], 1, MPI_INT, to, round, &other, 1, MPI_INT, from, round, grid, MPI_STATUS_IGNORE);
  CHECK(other == place[1]);
  MPI_Cart_shift(grid, 1, 1, &from, &to);
  other = -1;
  step();
  MPI_Sendrecv(&place[1], 1, MPI_INT, to, round, &other, 1, MPI_INT, from, round, grid, MPI_STATUS_IGNORE);
  CHECK(other == (place[1] == 0 ? -1 : place[1] - 1));
  use(grid, round);
  MPI_Comm_free(&grid);
}

/* Rows and columns of a grid. */
static void cart_sub(int round) {
  int dims[2] = {0, 0}, place[2], own_dims[1], own_periods[1], own_place[1];
  const int periods[2] = {0, 1}, keep_row[2] = {0, 1}, keep_column[2] = {1, 0};
  MPI_Comm grid, row, column;
  MPI_Dims_create(size, 2, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
  MPI_Cart_coords(grid, rank, 2, place);
  step();
  MPI_Cart_sub(grid, keep_row, &row);
  step();
  MPI_Cart_sub(grid, keep_column, &column);
  MPI_Comm_free(&grid);
  MPI_Cart_get(row, 1, own_dims, own_periods, own_place);
  CHECK(own_dims[0] == dims[1] && own_periods[0] == 1 && own_place[0] == place[1]);
  CHECK(sum_on(row, place[0] + round) == dims[1] * (place[0] + round));
  step();
  CHECK(sum_on(column, place[1]) == dims[0] * place[1]);
  use(column, round);
  MPI_Comm_free(&row);
  MPI_Comm_free(&column);
}

/* A ring with a centre, as each kind of graph. */
static void graph(int round) {
  int *index = malloc((size_t)size * sizeof(int)), *edges = malloc(2 * (size_t)size * sizeof(int)), found[2],
      number = -1, i;
  MPI_Comm made;
  for (i = 0; i < size; ++i) {
    index[i] = 2 * (i + 1);
    edges[2 * i] = (i + size - 1) % size;
    edges[2 * i + 1] = (i + 1) % size;
  }
  step();
  MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &made);
  step();
  MPI_Graph_neighbors_count(made, rank, &number);
  CHECK(number == 2);
  MPI_Graph_neighbors(made, rank, 2, found);
  CHECK(found[0] == edges[2 * rank] && found[1] == edges[2 * rank + 1]);
  number = 10 * rank + round;
  MPI_Neighbor_allgather(&number, 1, MPI_INT, found, 1, MPI_INT, made);
  CHECK(found[0] == 10 * edges[2 * rank] + round && found[1] == 10 * edges[2 * rank + 1] + round);
  use(made, round);
  MPI_Comm_free(&made);
  free(index);
  free(edges);
}

static void dist_graph(int round) {
  const int source = rank, degree = 2, targets[2] = {(rank + 1) % size, (rank + size - 1) % size};
  const int weights[2] = {1, 2};
  int in = 0, out = 0, weighted = 0, value, got[2] = {-1, -1}, sources[2], their_weights[2], ends[2], end_weights[2];
  MPI_Comm made;
  step();
  MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &source, &degree, targets, weights, MPI_INFO_NULL, 0, &made);
  step();
  MPI_Dist_graph_neighbors_count(made, &in, &out, &weighted);
  CHECK(in == 2 && out == 2 && weighted);
  MPI_Dist_graph_neighbors(made, 2, sources, their_weights, 2, ends, end_weights);
  CHECK(size < 3 || ((sources[0] == targets[0] || sources[0] == targets[1]) && sources[0] != sources[1]));
  value = 10 * rank + round;
  step();
  MPI_Neighbor_allgather(&value, 1, MPI_INT, got, 1, MPI_INT, made);
  CHECK(got[0] == 10 * sources[0] + round && got[1] == 10 * sources[1] + round);
  use(made, round);
  MPI_Comm_free(&made);
}

static void dist_graph_adjacent(int round) {
  const int below = (rank + size - 1) % size, above = (rank + 1) % size, weight = 3;
  int in = 0, out = 0, weighted = 0, value = 10 * rank + round, got = -1;
  MPI_Comm made;
  step();
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &below, &weight, 1, &above, &weight, MPI_INFO_NULL, 0, &made);
  step();
  MPI_Dist_graph_neighbors_count(made, &in, &out, &weighted);
  CHECK(in == 1 && out == 1 && weighted);
  MPI_Neighbor_alltoall(&value, 1, MPI_INT, &got, 1, MPI_INT, made);
  CHECK(got == 10 * below + round);
  use(made, round);
  MPI_Comm_free(&made);
}

/* Communicators of communicators, used in turn. */
static void nested(int round) {
  MPI_Comm comms[5];
  int i;
  comms[0] = MPI_COMM_WORLD;
  for (i = 1; i < 5; ++i) {
    if (i % 2) {
      MPI_Comm_dup(comms[i - 1], &comms[i]);
    } else {
      MPI_Comm_split(comms[i - 1], rank * 2 / size, -rank, &comms[i]);
    }
    step();
  }
  for (i = 0; i < 20; ++i) {
    const MPI_Comm comm = comms[i % 5];
    CHECK(sum_on(comm, i) == i * size_of(comm));
    if (i == round) step();
  }
  for (i = 1; i < 4; ++i) MPI_Comm_free(&comms[i]);
  step();
  CHECK(sum_on(comms[4], 1) == size_of(comms[4]));
  MPI_Comm_disconnect(&comms[4]);
}

static MPI_Comm lead(void) {
  MPI_Comm made;
  MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &made);
  return made;
}

static MPI_Comm follow(void) {
  MPI_Comm made;
  MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &made);
  return made;
}

/* Ranks that call a constructor from different places of the program. */
static void places(int round) {
  MPI_Comm made, other;
  step();
  made = rank == 0 ? lead() : follow();
  step();
  if (rank == round % size) {
    MPI_Comm_dup(made, &other);
  } else {
    step();
    MPI_Comm_dup(made, &other);
  }
  use(other, round);
  step();
  use(made, round);
  MPI_Comm_free(&made);
  MPI_Comm_free(&other);
}

/* Many that are made and freed again. */
static void many(int round) {
  int i;
  for (i = 0; i < 50; ++i) {
    MPI_Comm made;
    if (i % 10 == 5) step();
    if (i % 3) {
      MPI_Comm_dup(MPI_COMM_WORLD, &made);
    } else {
      MPI_Comm_split(MPI_COMM_WORLD, (rank + i) % 2, rank, &made);
    }
    CHECK(sum_on(made, round + i) == (round + i) * size_of(made));
    MPI_Comm_free(&made);
  }
}

/* Communicators are freed while a message is under way, or before those that were made of them. A new one has nothing of earlier ones. */
static void freed(int round) {
  int key = MPI_KEYVAL_INVALID, i;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  for (i = 0; i < 20; ++i) {
    const int value = 100 * rank + i;
    int got = -1, flag = 0, length = 0;
    char text[MPI_MAX_OBJECT_NAME];
    void* found = NULL;
    MPI_Comm half, inner, whole;
    MPI_Errhandler handler;
    MPI_Request request;
    MPI_Comm_split(MPI_COMM_WORLD, (rank + i) % 2, i % 3 == 0 ? -rank : rank, &half);
    if (i % 7 == round) step();
    MPI_Comm_dup(half, &inner);
    MPI_Comm_dup(MPI_COMM_WORLD, &whole);
    MPI_Comm_get_attr(whole, key, &found, &flag);
    MPI_Comm_get_name(whole, text, &length);
    MPI_Comm_get_errhandler(whole, &handler);
    CHECK(!flag && strcmp(text, "used") != 0 && handler == MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&handler);
    MPI_Comm_set_attr(whole, key, &key);
    MPI_Comm_set_name(whole, "used");
    MPI_Comm_set_errhandler(whole, MPI_ERRORS_RETURN);
    MPI_Irecv(&got, 1, MPI_INT, (rank + size - 1) % size, 3, whole, &request);
    MPI_Comm_free(&half);
    CHECK(sum_on(inner, i) == i * size_of(inner));
    if (i % 7 == 3) step();
    MPI_Comm_free(&inner);
    MPI_Send(&value, 1, MPI_INT, (rank + 1) % size, 3, whole);
    MPI_Comm_free(&whole);
    if (i % 7 == 5) step();
    if (i % 2) CHECK(sum_on(MPI_COMM_WORLD, 1) == size);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(got == 100 * ((rank + size - 1) % size) + i);
  }
  MPI_Comm_free_keyval(&key);
}

/* As many as some programs make in hours. */
static void thousands(int round) {
  int i;
  for (i = 0; i < 2500; ++i) {
    MPI_Comm made;
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    if (i % 500 == 77) step();
    CHECK(sum_on(made, round + i) == (round + i) * size);
    MPI_Comm_free(&made);
  }
}

/* Groups, and what is asked about them. */
static void groups(int round) {
  const int two[2] = {size - 1, 0};
  int numbers[2] = {0, 1}, there[2], result = -1;
  MPI_Group world, pair, rest, all, own;
  MPI_Comm turned;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &turned);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Comm_group(turned, &own);
  step();
  MPI_Group_incl(world, 2, two, &pair);
  MPI_Group_translate_ranks(pair, 2, numbers, world, there);
  CHECK(there[0] == size - 1 && there[1] == 0);
  MPI_Group_translate_ranks(pair, 2, numbers, own, there);
  CHECK(there[0] == 0 && there[1] == size - 1);
  MPI_Group_difference(world, pair, &rest);
  MPI_Group_size(rest, &result);
  CHECK(result == size - 2);
  MPI_Group_union(pair, rest, &all);
  MPI_Group_compare(all, world, &result);
  CHECK(result == MPI_SIMILAR);
  step();
  use(turned, round);
  MPI_Group_free(&world);
  MPI_Group_free(&pair);
  if (rest != MPI_GROUP_EMPTY) MPI_Group_free(&rest);
  MPI_Group_free(&all);
  MPI_Group_free(&own);
  MPI_Comm_free(&turned);
}

static int copied, deleted;

static int copy(MPI_Comm comm, int key, void* extra, void* in, void* out, int* flag) {
  (void)comm;
  (void)key;
  (void)extra;
  ++copied;
  *(void**)out = in;
  *flag = 1;
  return MPI_SUCCESS;
}

static int forget(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm;
  (void)key;
  (void)extra;
  ++deleted;
  free(value);
  return MPI_SUCCESS;
}

/* Attributes, with functions that MPI calls when one is copied or deleted. */
static void attributes(int round) {
  int key = MPI_KEYVAL_INVALID, shared = MPI_KEYVAL_INVALID, flag = 0;
  int* value = malloc(sizeof(int));
  int* found = NULL;
  static int constant = 4711;
  MPI_Comm one, two;
  copied = deleted = 0;
  *value = 10 * rank + round;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &key, NULL);
  MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &shared, NULL);
  MPI_Comm_dup(MPI_COMM_WORLD, &one);
  MPI_Comm_set_attr(one, key, value);
  MPI_Comm_set_attr(one, shared, &constant);
  step();
  MPI_Comm_dup(one, &two);
  CHECK(copied == 1);
  MPI_Comm_get_attr(two, key, &found, &flag);
  CHECK(!flag);
  MPI_Comm_get_attr(two, shared, &found, &flag);
  CHECK(flag && found == &constant);
  step();
  use(two, round);
  MPI_Comm_get_attr(one, key, &found, &flag);
  CHECK(flag && *found == 10 * rank + round && deleted == 0);
  /* A new value deletes the old one. */
  value = malloc(sizeof(int));
  *value = 3;
  MPI_Comm_set_attr(one, key, value);
  CHECK(deleted == 1);
  MPI_Comm_delete_attr(two, shared);
  step();
  MPI_Comm_free(&one);
  CHECK(deleted == 2);
  use(two, round);
  value = malloc(sizeof(int));
  MPI_Comm_set_attr(two, key, value);
  MPI_Comm_free(&two);
  CHECK(deleted == 3);
  MPI_Comm_free_keyval(&key);
  MPI_Comm_free_keyval(&shared);
  CHECK(key == MPI_KEYVAL_INVALID);
}

static int at_the_end;

static int say_end(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm;
  (void)key;
  (void)value;
  (void)extra;
  ++at_the_end;
  printf("the end of rank %d\n", rank);
  fflush(stdout);
  return MPI_SUCCESS;
}

/* Whether a communicator has the attributes that MPI has given to MPI_COMM_WORLD, with the same values. */
static int has_those_of_world(MPI_Comm comm) {
  static const int keys[] = {MPI_TAG_UB, MPI_WTIME_IS_GLOBAL, MPI_UNIVERSE_SIZE, MPI_APPNUM, MPI_HOST, MPI_IO};
  int same = 0, i;
  for (i = 0; i < COUNT_OF(keys); ++i) {
    int *of_world = NULL, *value = NULL, flag = 0, there = 0;
    MPI_Comm_get_attr(MPI_COMM_WORLD, keys[i], &of_world, &flag);
    MPI_Comm_get_attr(comm, keys[i], &value, &there);
    same += flag && there && *of_world == *value;
  }
  return same == COUNT_OF(keys);
}

/* MPI_Finalize deletes the attributes of MPI_COMM_SELF: libraries clean up there. Also what MPI itself says about MPI_COMM_WORLD. */
static void predefined(int round) {
  static int key = MPI_KEYVAL_INVALID;
  int *bound = NULL, flag = 0;
  MPI_Comm one, two, part;
  if (round == 0) {
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, say_end, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, &key);
  }
  step();
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &bound, &flag);
  CHECK(flag && *bound >= 32767);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &bound, &flag);
  CHECK(flag);
  MPI_Comm_dup(MPI_COMM_WORLD, &one);
  MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &part);
  step();
  MPI_Comm_get_attr(one, MPI_TAG_UB, &bound, &flag);
  CHECK(flag && *bound >= 32767 && at_the_end == 0);
  MPI_Comm_dup(one, &two);
  MPI_Comm_free(&one);
  step();
  CHECK(has_those_of_world(two));
  MPI_Comm_get_attr(part, MPI_TAG_UB, &bound, &flag);
  CHECK(!flag || *bound >= 32767);
  MPI_Comm_free(&two);
  MPI_Comm_free(&part);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* Names, and info of communicators. */
static void names(int round) {
  char text[MPI_MAX_OBJECT_NAME], wanted[40];
  MPI_Comm one;
  MPI_Info info, found;
  int length = 0, flag = 0;
  MPI_Comm_dup(MPI_COMM_WORLD, &one);
  snprintf(wanted, sizeof(wanted), "communicator %d", round);
  MPI_Comm_set_name(one, wanted);
  step();
  MPI_Comm_get_name(one, text, &length);
  CHECK(strcmp(text, wanted) == 0 && length == (int)strlen(wanted));
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
  MPI_Comm_set_info(one, info);
  MPI_Comm_get_info(one, &found);
  MPI_Info_get_nkeys(found, &flag);
  step();
  use(one, round);
  MPI_Comm_get_name(one, text, &length);
  CHECK(strcmp(text, wanted) == 0);
  MPI_Info_free(&info);
  MPI_Info_free(&found);
  MPI_Comm_free(&one);
}

static int handled, last_class;

static void handle(MPI_Comm* comm, int* error, ...) {
  (void)comm;
  ++handled;
  MPI_Error_class(*error, &last_class);
}

/* Errors that the program makes, with each kind of handler. */
static void errors(int round) {
  int value = round, error, error_class = -1, length = 0;
  char text[MPI_MAX_ERROR_STRING];
  MPI_Errhandler own, found;
  MPI_Comm one;
  MPI_Status status;
  MPI_Comm_dup(MPI_COMM_WORLD, &one);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  step();
  error = MPI_Send(&value, 1, MPI_INT, size + 5, 0, MPI_COMM_WORLD);
  MPI_Error_class(error, &error_class);
  CHECK(error_class == MPI_ERR_RANK);
  MPI_Error_string(error, text, &length);
  CHECK(length > 0);
  error = MPI_Send(&value, 1, MPI_INT, 0, -5, MPI_COMM_WORLD);
  MPI_Error_class(error, &error_class);
  CHECK(error_class == MPI_ERR_TAG);
  error = MPI_Bcast(&value, 1, MPI_INT, -7, MPI_COMM_WORLD);
  MPI_Error_class(error, &error_class);
  CHECK(error_class == MPI_ERR_ROOT);
  handled = 0;
  MPI_Comm_create_errhandler(handle, &own);
  MPI_Comm_set_errhandler(one, own);
  MPI_Comm_get_errhandler(one, &found);
  CHECK(found == own);
  MPI_Errhandler_free(&found);
  MPI_Errhandler_free(&own);
  step();
  error = MPI_Send(&value, -1, MPI_INT, rank, 0, one);
  CHECK(handled == 1 && last_class == MPI_ERR_COUNT && error != MPI_SUCCESS);
  use(one, round);
  MPI_Comm_call_errhandler(one, MPI_ERR_OTHER);
  CHECK(handled == 2 && last_class == MPI_ERR_OTHER);
  step();
  /* A message that is larger than its place. */
  {
    int sent[4] = {1, 2, 3, 4}, got[2] = {-1, -1};
    MPI_Request request;
    MPI_Isend(sent, 4, MPI_INT, (rank + 1) % size, 3, one, &request);
    error = MPI_Recv(got, 1, MPI_INT, (rank + size - 1) % size, 3, one, &status);
    MPI_Error_class(error, &error_class);
    CHECK(error_class == MPI_ERR_TRUNCATE && handled == 3 && last_class == MPI_ERR_TRUNCATE && got[1] == -1);
    CHECK(status.MPI_SOURCE == (rank + size - 1) % size && status.MPI_TAG == 3);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  step();
  /* The same among requests: the others are right. */
  {
    int sent[4] = {1, 2, 3, 4}, got[2][2] = {{-1, -1}, {-1, -1}}, own_class = -1;
    MPI_Request requests[4];
    MPI_Status statuses[4];
    const int to = (rank + 1) % size, from = (rank + size - 1) % size;
    MPI_Irecv(got[0], 1, MPI_INT, from, 4, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(got[1], 2, MPI_INT, from, 5, MPI_COMM_WORLD, &requests[1]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Isend(sent, 4, MPI_INT, to, 4, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(sent, 2, MPI_INT, to, 5, MPI_COMM_WORLD, &requests[3]);
    step();
    error = MPI_Waitall(4, requests, statuses);
    MPI_Error_class(error, &error_class);
    CHECK(error_class == MPI_ERR_IN_STATUS);
    MPI_Error_class(statuses[0].MPI_ERROR, &own_class);
    CHECK(own_class == MPI_ERR_TRUNCATE && got[0][1] == -1);
    CHECK(statuses[0].MPI_SOURCE == from && statuses[0].MPI_TAG == 4);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    CHECK(got[1][1] == 2);
  }
  use(one, round);
  CHECK(handled == 3);
  MPI_Comm_free(&one);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static const struct Case cases[] = {{"dup", dup},
                                    {"split", split},
                                    {"split_type", split_type},
                                    {"create", create},
                                    {"create_group", create_group},
                                    {"create_group_tags", create_group_tags},
                                    {"create_group_of_grid", create_group_of_grid},
                                    {"cart", cart},
                                    {"cart_sub", cart_sub},
                                    {"graph", graph},
                                    {"dist_graph", dist_graph},
                                    {"dist_graph_adjacent", dist_graph_adjacent},
                                    {"nested", nested},
                                    {"places", places},
                                    {"many", many},
                                    {"freed", freed},
                                    {"disconnect", disconnect},
                                    {"thousands", thousands},
                                    {"groups", groups},
                                    {"attributes", attributes},
                                    {"predefined", predefined},
                                    {"names", names},
                                    {"errors", errors}};

int main(int argc, char** argv) { return run_cases(argc, argv, cases, COUNT_OF(cases)); }
