/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Solves A x = b by conjugate gradients. A is sparse, and each rank has some of its rows.
 * plain.c and protected.c are the same program, without Fenix and with it: diff plain.c protected.c
 *
 * mpicc -O2 -o plain plain.c -lm
 * mpirun -n 4 ./plain [CELLS [ITERATIONS]]
 *
 * A belongs to one implicit time step of a heat equation, on a square of CELLS x CELLS cells with periodic
 * edges. A rank has some lines of cells. Its vectors have two more lines if they are multiplied by A: those
 * of its neighbours. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static MPI_Comm comm;
static int rank, ranks;
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
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  assemble();
  begin();
  while (iteration < iterations && rho > 1e-20) {
    iterate();
  }
  report();
  MPI_Finalize();
  return EXIT_SUCCESS;
}
