/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Solves A x = b by conjugate gradients. A is sparse, and each rank has some of its rows.
 * plain.c and protected.c are the same program, without Fenix and with it: diff plain.c protected.c
 *
 * mpicc -O2 -o protected protected.c -I$F/include -L$F/lib -Wl,-rpath,$F/lib -lfenix -lm
 * mpirun --with-ft ulfm -n 5 ./protected [CELLS [ITERATIONS]]
 * F: the folder where Fenix is installed. With 2000 cells there is time to kill a rank.
 *
 * A belongs to one implicit time step of a heat equation, on a square of CELLS x CELLS cells with periodic
 * edges. A rank has some lines of cells. Its vectors have two more lines if they are multiplied by A: those
 * of its neighbours. */
#include <fenix.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { SPARES = 1, INTERVAL = 10, GROUP = 0, X = 0, R = 1, P = 2, RHO = 3, ITERATION = 4 };

static MPI_Comm comm; /* static, as all that is needed after a jump */
static int role, error, rank, ranks;
static int cells = 96, iterations = 1000;

/* The matrix, in compressed rows. Columns count the rank's own rows, then the line before them, then the one after. */
static int first, rows; /* first line of cells; number of rows */
static int *start, *column;
static double *value, *b;

/* What changes in each iteration. */
static double *x, *r, *p, *q, rho;
static int iteration;

static double* vector(int length) { return calloc((size_t)length, sizeof(double)); }

/* Gives the conductivity between a cell and the next one in its line (0), or in its column (1). */
static double conductivity(int i, int j, int direction) {
  return 1 + 0.5 * sin(12.9898 * (i % cells) + 78.233 * (j % cells) + direction);
}

static void set_entry(int* entry, int at, double what) {
  column[*entry] = at;
  value[*entry] = what;
  ++*entry;
}

static void assemble(void) {
  int entry = 0;
  first = (int)((long)cells * rank / ranks);
  rows = ((int)((long)cells * (rank + 1) / ranks) - first) * cells;
  start = malloc((size_t)(rows + 1) * sizeof *start);
  column = malloc((size_t)rows * 5 * sizeof *column);
  value = vector(5 * rows);
  b = vector(rows), x = vector(rows), r = vector(rows), q = vector(rows);
  p = vector(rows + 2 * cells);
  for (int row = 0; row < rows; ++row) {
    const int i = first + row / cells, j = row % cells;
    const double before = 50 * conductivity(i + cells - 1, j, 1), after = 50 * conductivity(i, j, 1);
    const double left = 50 * conductivity(i, j + cells - 1, 0), right = 50 * conductivity(i, j, 0);
    start[row] = entry;
    set_entry(&entry, row, 1 + before + after + left + right);
    set_entry(&entry, row < cells ? rows + j : row - cells, -before);
    set_entry(&entry, row + cells < rows ? row + cells : rows + cells + j, -after);
    set_entry(&entry, row - j + (j + cells - 1) % cells, -left);
    set_entry(&entry, row - j + (j + 1) % cells, -right);
    b[row] = i > cells / 4 && i < cells / 2 && j > cells / 3 ? 1 : 0;
  }
  start[rows] = entry;
}

/* Gets the lines of the neighbours. */
static void exchange(double* v) {
  const int before = (rank + ranks - 1) % ranks, after = (rank + 1) % ranks;
  MPI_Sendrecv(v, cells, MPI_DOUBLE, before, 0, v + rows + cells, cells, MPI_DOUBLE, after, 0, comm, MPI_STATUS_IGNORE);
  MPI_Sendrecv(v + rows - cells, cells, MPI_DOUBLE, after, 1, v + rows, cells, MPI_DOUBLE, before, 1, comm,
               MPI_STATUS_IGNORE);
}

static void multiply(double* v, double* product) {
  exchange(v);
  for (int row = 0; row < rows; ++row) {
    double sum = 0;
    for (int entry = start[row]; entry < start[row + 1]; ++entry) sum += value[entry] * v[column[entry]];
    product[row] = sum;
  }
}

static double dot(const double* u, const double* v) {
  double mine = 0, all;
  for (int row = 0; row < rows; ++row) mine += u[row] * v[row];
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, comm);
  return all;
}

/* Begins with x = 0. */
static void begin(void) {
  for (int row = 0; row < rows; ++row) x[row] = 0, r[row] = p[row] = b[row];
  iteration = 0;
  rho = dot(r, r);
}

static void check(int code) {
  if (code >= 0) return;
  fprintf(stderr, "%s\n", Fenix_Error_message());
  MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

/* Tells Fenix what to protect: the matrix is not among it, because each rank can make it again. */
static void protect(void) {
  check(Fenix_Data_group_create(GROUP, comm, 0, 0, FENIX_DATA_POLICY_IN_MEMORY_RAID, NULL, NULL));
  check(Fenix_Data_member_define(GROUP, X, x, rows, MPI_DOUBLE));
  check(Fenix_Data_member_define(GROUP, R, r, rows, MPI_DOUBLE));
  check(Fenix_Data_member_define(GROUP, P, p, rows, MPI_DOUBLE));
  check(Fenix_Data_member_define(GROUP, RHO, &rho, 1, MPI_DOUBLE));
  check(Fenix_Data_member_define(GROUP, ITERATION, &iteration, 1, MPI_INT));
}

/* Gives 0 if nothing was committed yet, or it is lost. */
static int restore(void) {
  const int found = Fenix_Data_member_restore(GROUP, X, x, rows, FENIX_DATA_SNAPSHOT_LATEST, NULL);
  if (found == FENIX_ERROR_NODATA_FOUND) return 0;
  check(found);
  check(Fenix_Data_member_restore(GROUP, R, r, rows, FENIX_DATA_SNAPSHOT_LATEST, NULL));
  check(Fenix_Data_member_restore(GROUP, P, p, rows, FENIX_DATA_SNAPSHOT_LATEST, NULL));
  check(Fenix_Data_member_restore(GROUP, RHO, &rho, 1, FENIX_DATA_SNAPSHOT_LATEST, NULL));
  check(Fenix_Data_member_restore(GROUP, ITERATION, &iteration, 1, FENIX_DATA_SNAPSHOT_LATEST, NULL));
  return 1;
}

static void save(void) {
  check(Fenix_Data_member_store(GROUP, FENIX_DATA_MEMBER_ALL, FENIX_DATA_SUBSET_FULL));
  check(Fenix_Data_commit_barrier(GROUP, FENIX_TIME_STAMP_IGNORE));
}

static void iterate(void) {
  multiply(p, q);
  const double alpha = rho / dot(p, q);
  for (int row = 0; row < rows; ++row) x[row] += alpha * p[row], r[row] -= alpha * q[row];
  const double last = rho;
  rho = dot(r, r);
  for (int row = 0; row < rows; ++row) p[row] = r[row] + rho / last * p[row];
  ++iteration;
  if (rank == 0 && iteration % 10 == 0) printf("iteration %d residual %.16e\n", iteration, sqrt(rho));
}

/* Prints b - A x as it really is, and the length of x. */
static void report(void) {
  for (int row = 0; row < rows; ++row) p[row] = x[row];
  multiply(p, q);
  for (int row = 0; row < rows; ++row) r[row] = b[row] - q[row];
  const double residual = sqrt(dot(r, r)), length = sqrt(dot(x, x));
  if (rank == 0) printf("end %d residual %.16e length %.16e\n", iteration, residual, length);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (argc > 1) cells = atoi(argv[1]);
  if (argc > 2) iterations = atoi(argv[2]);
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, SPARES, &error);
  check(error);
  if (error == FENIX_WARNING_SPARE_RANKS_DEPLETED) MPI_Abort(comm, EXIT_FAILURE); /* the rows are for all ranks */
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  if (b == NULL) assemble(); /* survivors have it already */
  protect();
  if (!restore()) begin();
  if (rank == 0 && role != FENIX_ROLE_INITIAL_RANK) printf("a rank has died: on from iteration %d\n", iteration);
  while (iteration < iterations && rho > 1e-20) {
    iterate();
    if (iteration % INTERVAL == 0) save();
  }
  report();
  check(Fenix_Finalize());
  MPI_Finalize();
  return EXIT_SUCCESS;
}
