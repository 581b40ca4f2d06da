/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Heat on a plate, on a Cartesian grid of ranks. Of Fenix it has Fenix_Init with newcomm NULL, and the calls that keep its data: all
 * else is MPI as ever, on MPI_COMM_WORLD and what is derived from it. When a rank dies, control comes out of Fenix_Init again on all
 * ranks, and the same calls give the same communicators.
 *
 *   mpirun --with-ft ulfm -n 6 heat2d_transparent OUTPUT [SPARES [VICTIM STEP]…]
 *
 * VICTIM, a number in the job, kills itself in STEP. OUTPUT is the same file, byte for byte, whoever dies. HEAT2D_PAUSE, a variable of
 * the environment, is the seconds to wait after each snapshot.
 */
#define _GNU_SOURCE
#include <fenix.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NX = 96, NY = 120, STEPS = 200, STEPS_PER_SNAPSHOT = 20, MOST_CELLS = (NX + 2) * (NY + 2) };
enum { GROUP = 1, FIELD = 0, STEP = 1 };

static double field[MOST_CELLS]; /* of this rank, with a margin of one cell */
static double next[MOST_CELLS];
static int step = 0;
static int role = FENIX_ROLE_INITIAL_RANK;
static int error = FENIX_SUCCESS;

static MPI_Comm grid;
static MPI_Datatype column;
static int rows, columns, first_row, first_column;
static int above, below, left, right;

static int at(int i, int j) { return i * (columns + 2) + j; }

static void stop_on(int code) {
  if (code >= FENIX_SUCCESS) return;
  fprintf(stderr, "heat2d: %s\n", Fenix_Error_message());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Divides the plate among the ranks. */
static void divide(void) {
  int ranks, coordinates[2], dims[2] = {0, 0};
  const int periods[2] = {0, 0};
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Dims_create(ranks, 2, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
  MPI_Cart_get(grid, 2, dims, (int[2]){0, 0}, coordinates);
  MPI_Cart_shift(grid, 0, 1, &above, &below);
  MPI_Cart_shift(grid, 1, 1, &left, &right);
  first_row = NX * coordinates[0] / dims[0];
  first_column = NY * coordinates[1] / dims[1];
  rows = NX * (coordinates[0] + 1) / dims[0] - first_row;
  columns = NY * (coordinates[1] + 1) / dims[1] - first_column;
  MPI_Type_vector(rows, 1, columns + 2, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
}

/* A hot spot on a cold plate. */
static void begin(void) {
  for (int i = 1; i <= rows; ++i) {
    for (int j = 1; j <= columns; ++j) {
      const int x = first_row + i - 1 - NX / 3;
      const int y = first_column + j - 1 - NY / 2;
      field[at(i, j)] = x * x + y * y < 400 ? 100.0 + x + 0.5 * y : 1.0;
    }
  }
}

static void exchange_margins(void) {
  MPI_Request requests[8];
  MPI_Irecv(&field[at(0, 1)], columns, MPI_DOUBLE, above, 0, grid, &requests[0]);
  MPI_Irecv(&field[at(rows + 1, 1)], columns, MPI_DOUBLE, below, 1, grid, &requests[1]);
  MPI_Irecv(&field[at(1, 0)], 1, column, left, 2, grid, &requests[2]);
  MPI_Irecv(&field[at(1, columns + 1)], 1, column, right, 3, grid, &requests[3]);
  MPI_Isend(&field[at(rows, 1)], columns, MPI_DOUBLE, below, 0, grid, &requests[4]);
  MPI_Isend(&field[at(1, 1)], columns, MPI_DOUBLE, above, 1, grid, &requests[5]);
  MPI_Isend(&field[at(1, columns)], 1, column, right, 2, grid, &requests[6]);
  MPI_Isend(&field[at(1, 1)], 1, column, left, 3, grid, &requests[7]);
  MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
}

static void diffuse(void) {
  for (int i = 1; i <= rows; ++i) {
    for (int j = 1; j <= columns; ++j) {
      next[at(i, j)] = field[at(i, j)] + 0.2 * (field[at(i - 1, j)] + field[at(i + 1, j)] + field[at(i, j - 1)] +
                                                field[at(i, j + 1)] - 4 * field[at(i, j)]);
    }
  }
  memcpy(field, next, sizeof field);
}

/* A new group keeps the field and the step; after a failure, they are as in the last snapshot. */
static void protect_or_restore(void) {
  stop_on(Fenix_Data_group_create(GROUP, MPI_COMM_WORLD, 0, 0, FENIX_DATA_POLICY_IMR, NULL, NULL));
  if (role == FENIX_ROLE_INITIAL_RANK) {
    stop_on(Fenix_Data_member_create(GROUP, FIELD, field, MOST_CELLS, MPI_DOUBLE));
    stop_on(Fenix_Data_member_create(GROUP, STEP, &step, 1, MPI_INT));
    return;
  }
  const int code = Fenix_Data_member_restore(GROUP, FIELD, field, MOST_CELLS, FENIX_DATA_SNAPSHOT_LATEST, NULL);
  if (code == FENIX_ERROR_NODATA_FOUND) {
    /* Nothing had been committed yet. */
    step = 0;
    begin();
    return;
  }
  stop_on(code);
  stop_on(Fenix_Data_member_restore(GROUP, STEP, &step, 1, FENIX_DATA_SNAPSHOT_LATEST, NULL));
  /* A new process has told nobody yet where its data is. */
  stop_on(Fenix_Data_member_attr_set(GROUP, FIELD, FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER, field, NULL));
  stop_on(Fenix_Data_member_attr_set(GROUP, STEP, FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER, &step, NULL));
}

static void snapshot(void) {
  stop_on(Fenix_Data_member_store(GROUP, FENIX_DATA_MEMBER_ALL, FENIX_DATA_SUBSET_FULL));
  stop_on(Fenix_Data_commit_barrier(GROUP, NULL));
  const char* pause = getenv("HEAT2D_PAUSE");
  if (pause == NULL) return;
  int rank;
  MPI_Comm_rank(grid, &rank);
  if (rank == 0) printf("step %d\n", step);
  fflush(stdout);
  usleep((useconds_t)(1e6 * atof(pause)));
}

/* Rank 0 writes the plate, rank by rank. */
static void write_to(const char* path) {
  int rank, ranks;
  MPI_Comm_rank(grid, &rank);
  MPI_Comm_size(grid, &ranks);
  double* all = rank == 0 ? malloc((size_t)ranks * sizeof field) : NULL;
  MPI_Gather(field, MOST_CELLS, MPI_DOUBLE, all, MOST_CELLS, MPI_DOUBLE, 0, grid);
  if (rank != 0) return;
  FILE* file = fopen(path, "wb");
  if (file == NULL || fwrite(all, sizeof field, (size_t)ranks, file) != (size_t)ranks || fclose(file) != 0) {
    fprintf(stderr, "heat2d: cannot write %s\n", path);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  free(all);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc < 2) MPI_Abort(MPI_COMM_WORLD, 2);
  int process;
  MPI_Comm_rank(MPI_COMM_WORLD, &process);
  const int spares = argc > 2 ? atoi(argv[2]) : 1;

  Fenix_Init(&role, MPI_COMM_WORLD, NULL, &argc, &argv, spares, &error);
  stop_on(error);
  divide();
  if (role == FENIX_ROLE_INITIAL_RANK) begin();
  protect_or_restore();

  while (step < STEPS) {
    if (step % STEPS_PER_SNAPSHOT == 0) snapshot();
    exchange_margins();
    for (int i = 3; i + 1 < argc; i += 2) {
      if (process == atoi(argv[i]) && step == atoi(argv[i + 1])) raise(SIGKILL);
    }
    diffuse();
    ++step;
  }
  write_to(argv[1]);
  int rank;
  MPI_Comm_rank(grid, &rank);
  stop_on(Fenix_Finalize());
  printf("FENIX-TEST-OK rank %d\n", rank);
  MPI_Finalize();
  return 0;
}
