/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Figure 3 of "Data Persistency for Fault-Tolerance Using MPI Semantics" (Gracia et al., 2016): two processes exchange boundaries, and
 * only a process that dies goes back, to its own last state. The other one stays where it is.
 *
 *   FENIX_SPARES=1 mpirun --with-ft ulfm -n 3 exchange [ITERATIONS [RANK ITERATION]]
 *
 * RANK is killed in ITERATION, somewhere. The figure has been mended in three places. The state is one message, so that no death can come
 * between its parts. It names the next iteration. The last two boundaries are kept, on a communicator of their own, because the other
 * process may be one iteration ahead.
 */
#include <fenix.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SIZE 1000
#define SESSION "1001"

enum { STATETAG, BNDTAG };

typedef struct {
  double seed;
  int iter;
} State;

typedef struct {
  double value;
  int iter;
} Boundary;

static int failure(void) {
  int flag = 0;
  Fenix_Failure(&flag);
  return flag;
}

/* The data follows from the seed, except for the boundary. */
static void init_data(double* data, double seed) {
  for (int i = 0; i < SIZE - 1; ++i) data[i] = seed * (1.0 + i / (double)SIZE);
}

static void compute(double* data, int step) {
  for (int i = 0; i < SIZE - 1; ++i) data[i] = 0.5 * data[i] + 0.25 * data[SIZE - 1] + step % 13;
}

static double aggregate(const double* data) {
  double sum = 0.0;
  for (int i = 0; i < SIZE; ++i) sum += data[i];
  return sum / SIZE;
}

/* Ends the process in an iteration, before or after any of its calls. */
static void die(int now, int when) {
  if (now == when) raise(SIGKILL);
}

int main(int argc, char** argv) {
  static double data[SIZE];
  State state = {321.0, 0};
  Boundary boundary = {0.0, -1};
  MPI_Info info;
  MPI_Comm persistent;
  MPI_Comm boundaries;
  MPI_Comm world = MPI_COMM_WORLD;
  const int iterations = argc > 1 ? atoi(argv[1]) : 10;
  int rank;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(world, &rank);
  const int other = rank == 0 ? 1 : 0;
  MPI_Comm_persist(world, SESSION, MPI_INFO_NULL, &persistent);
  MPI_Info_create(&info);
  MPI_Info_set(info, "persist_depth", "2");
  MPI_Comm_persist(world, SESSION " boundaries", info, &boundaries);
  MPI_Info_free(&info);

  const int restarted = failure();
  int has_state = 0;
  if (restarted) {
    /* A process that dies at once has stored nothing. */
    MPI_Iprobe(rank, STATETAG, persistent, &has_state, MPI_STATUS_IGNORE);
    if (has_state) MPI_Recv(&state, sizeof state, MPI_BYTE, rank, STATETAG, persistent, MPI_STATUS_IGNORE);
  }
  init_data(data, state.seed);
  data[SIZE - 1] = 100.0;
  if (has_state) {
    /* The other process may have stored one of the next iteration already, or may come to store this one later. */
    do {
      MPI_Recv(&boundary, sizeof boundary, MPI_BYTE, other, BNDTAG, boundaries, MPI_STATUS_IGNORE);
    } while (boundary.iter != state.iter - 1);
    data[SIZE - 1] = boundary.value;
  }

  /* Where the process dies: at one of seven places of an iteration. */
  const int victim = argc > 3 && atoi(argv[2]) == rank && !restarted;
  const int death = victim ? atoi(argv[3]) : -1;
  for (int i = state.iter; i < iterations; ++i) {
    die(7 * i, death);
    compute(data, i);
    boundary.value = data[0];
    boundary.iter = i;
    die(7 * i + 1, death);
    MPI_Sendrecv(&boundary.value, 1, MPI_DOUBLE, other, BNDTAG, &data[SIZE - 1], 1, MPI_DOUBLE, other, BNDTAG, world,
                 MPI_STATUS_IGNORE);
    die(7 * i + 2, death);
    /* The boundary, for the recovery of the other process. */
    MPI_Send(&boundary, sizeof boundary, MPI_BYTE, other, BNDTAG, boundaries);
    die(7 * i + 3, death);
    state.seed = aggregate(data);
    init_data(data, state.seed);
    state.iter = i + 1;
    die(7 * i + 4, death);
    printf("%d %d %.17g\n", rank, i, state.seed);
    fflush(stdout);
    die(7 * i + 5, death);
    MPI_Send(&state, sizeof state, MPI_BYTE, rank, STATETAG, persistent);
    die(7 * i + 6, death);
  }
  printf("Final: %d %.17g\n", rank, state.seed);
  fflush(stdout);
  MPI_Comm_free(&boundaries);
  MPI_Comm_free(&persistent);
  MPI_Finalize();
  return 0;
}
