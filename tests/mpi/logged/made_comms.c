/* SPDX-License-Identifier: BSD-3-Clause */
/* Each constructor of communicators, and a use of what it has made. A fault may kill a rank in it: FENIX_FAULT=derive.begin:1:1.
 * usage: made_comms KIND [dies]
 *   dies: rank 1 dies before it comes to the constructor
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAIL(...) \
  (printf("FENIX-TEST-FAIL rank %d: ", rank), printf(__VA_ARGS__), printf("\n"), MPI_Abort(MPI_COMM_WORLD, 3))
enum { MOST = 16 };

static int rank, size;

/* The ring: each rank gives the edges of the one after it. */
static MPI_Comm make_dist_graph(void) {
  MPI_Comm made = MPI_COMM_NULL;
  const int source = (rank + 1) % size;
  const int degree = 2;
  const int destinations[2] = {(source + 1) % size, (source + size - 1) % size};
  const int weights[2] = {10 + source, 20 + source};
  MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &source, &degree, destinations, weights, MPI_INFO_NULL, 0, &made);
  return made;
}

static void check_dist_graph(MPI_Comm made) {
  int in, out, weighted, sources[MOST], source_weights[MOST], destinations[MOST], destination_weights[MOST];
  const int before = (rank + size - 1) % size, after = (rank + 1) % size;
  MPI_Dist_graph_neighbors_count(made, &in, &out, &weighted);
  if (in != 2 || out != 2 || !weighted) FAIL("%d edges end and %d begin here, weighted: %d", in, out, weighted);
  MPI_Dist_graph_neighbors(made, MOST, sources, source_weights, MOST, destinations, destination_weights);
  for (int i = 0; i < 2; ++i) {
    const int from_before = sources[i] == before && source_weights[i] == 10 + before;
    const int from_after = sources[i] == after && source_weights[i] == 20 + after;
    if (!from_before && !from_after) FAIL("an edge from %d has the weight %d", sources[i], source_weights[i]);
    const int to_after = destinations[i] == after && destination_weights[i] == 10 + rank;
    const int to_before = destinations[i] == before && destination_weights[i] == 20 + rank;
    if (!to_before && !to_after) FAIL("an edge to %d has the weight %d", destinations[i], destination_weights[i]);
  }
}

static MPI_Comm make(const char* kind) {
  MPI_Comm made = MPI_COMM_NULL, grid = MPI_COMM_NULL;
  MPI_Group all, some;
  const int dims[2] = {size / 2, 2}, periods[2] = {1, 0}, remain[2] = {1, 0};
  const int before = (rank + size - 1) % size, after = (rank + 1) % size;
  int index[MOST], edges[2 * MOST];
  if (strcmp(kind, "dup") == 0) MPI_Comm_dup(MPI_COMM_WORLD, &made);
  if (strcmp(kind, "dup_with_info") == 0) MPI_Comm_dup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &made);
  if (strcmp(kind, "split") == 0) MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &made);
  if (strcmp(kind, "split_type") == 0)
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, -rank, MPI_INFO_NULL, &made);
  if (strcmp(kind, "cart") == 0) MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &made);
  if (strcmp(kind, "cart_sub") == 0) {
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    MPI_Cart_sub(grid, remain, &made);
    MPI_Comm_free(&grid);
  }
  if (strcmp(kind, "graph") == 0) {
    for (int i = 0; i < size; ++i) {
      index[i] = 2 * (i + 1);
      edges[2 * i] = (i + 1) % size;
      edges[2 * i + 1] = (i + size - 1) % size;
    }
    MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &made);
  }
  if (strcmp(kind, "dist_graph") == 0) made = make_dist_graph();
  if (strcmp(kind, "adjacent") == 0) {
    const int sources[2] = {before, after}, destinations[2] = {after, before};
    const int in[2] = {10 + before, 20 + after}, out[2] = {10 + rank, 20 + rank};
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, sources, in, 2, destinations, out, MPI_INFO_NULL, 0, &made);
  }
  if (strncmp(kind, "create", 6) == 0) {
    /* All but the last rank, the other way round. */
    const int range[1][3] = {{size - 2, 0, -1}};
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_range_incl(all, 1, (int(*)[3])range, &some);
    if (strcmp(kind, "create") == 0) MPI_Comm_create(MPI_COMM_WORLD, some, &made);
    if (strcmp(kind, "create_group") == 0 && rank < size - 1) MPI_Comm_create_group(MPI_COMM_WORLD, some, 3, &made);
    MPI_Group_free(&some);
    MPI_Group_free(&all);
  }
  return made;
}

/* Ranks are given out the other way round by "split" and by groups. */
static void check(const char* kind, MPI_Comm made) {
  int number, members, sum = 0, status = MPI_UNDEFINED, all[MOST] = {0};
  if (made == MPI_COMM_NULL) return;
  MPI_Comm_rank(made, &number);
  MPI_Comm_size(made, &members);
  MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, made);
  if (all[number] != rank) FAIL("rank %d of the new communicator is %d", number, all[number]);
  for (int i = 0; i < members; ++i) sum += all[i];
  MPI_Topo_test(made, &status);
  printf("made: rank %d is %d of %d, sum %d, topology %d\n", rank, number, members, sum, status);
  if (strcmp(kind, "dist_graph") == 0 || strcmp(kind, "adjacent") == 0) check_dist_graph(made);
  if (status != MPI_UNDEFINED) {
    int from[MOST];
    for (int i = 0; i < MOST; ++i) from[i] = -1;
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, from, 1, MPI_INT, made);
    if (strcmp(kind, "graph") == 0 && from[0] != (rank + 1) % size) FAIL("the first neighbour is %d", from[0]);
  }
}

int main(int argc, char** argv) {
  const char* kind = argv[1];
  const int dies = argc > 2;
  int sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (dies && rank == 1 && atoi(getenv("PMIX_RANK")) == rank) raise(SIGKILL);
  MPI_Comm made = make(kind);
  check(kind, made);
  if (made != MPI_COMM_NULL) MPI_Comm_free(&made);
  /* Once more: numbers of constructors are the same on all ranks. */
  made = make(kind);
  check(kind, made);
  if (made != MPI_COMM_NULL) MPI_Comm_free(&made);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (sum != size * (size - 1) / 2) FAIL("the sum of the ranks is %d", sum);
  printf("FENIX-TEST-OK rank %d\n", rank);
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
