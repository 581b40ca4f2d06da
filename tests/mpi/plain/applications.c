/* SPDX-License-Identifier: BSD-3-Clause */
/* Small programs of the kinds that simulations are made of. Each checks its result. */
#include "plain.h"

/* Heat on a grid: a Cartesian topology, columns as a type, edges exchanged without blocking, a sum of all ranks. */
static void heat(int round) {
  enum { N = 16 };
  static double now[N + 2][N + 2], next[N + 2][N + 2];
  int dims[2] = {0, 0}, place[2], up, down, west, east, i, j, iteration;
  const int periods[2] = {1, 1};
  double sum = 0, all = 0;
  MPI_Comm grid;
  MPI_Datatype column;
  MPI_Dims_create(size, 2, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &grid);
  MPI_Cart_coords(grid, rank, 2, place);
  MPI_Cart_shift(grid, 0, 1, &up, &down);
  MPI_Cart_shift(grid, 1, 1, &west, &east);
  MPI_Type_vector(N, 1, N + 2, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  for (i = 1; i <= N; ++i) {
    for (j = 1; j <= N; ++j) now[i][j] = (place[0] * N + i) * 64 + (place[1] * N + j) + 1024 * round;
  }
  for (iteration = 0; iteration < 20; ++iteration) {
    MPI_Request requests[8];
    if (iteration % 4 == 0) step();
    MPI_Irecv(&now[0][1], N, MPI_DOUBLE, up, 0, grid, &requests[0]);
    MPI_Irecv(&now[N + 1][1], N, MPI_DOUBLE, down, 1, grid, &requests[1]);
    MPI_Irecv(&now[1][0], 1, column, west, 2, grid, &requests[2]);
    MPI_Irecv(&now[1][N + 1], 1, column, east, 3, grid, &requests[3]);
    MPI_Isend(&now[N][1], N, MPI_DOUBLE, down, 0, grid, &requests[4]);
    MPI_Isend(&now[1][1], N, MPI_DOUBLE, up, 1, grid, &requests[5]);
    MPI_Isend(&now[1][N], 1, column, east, 2, grid, &requests[6]);
    MPI_Isend(&now[1][1], 1, column, west, 3, grid, &requests[7]);
    MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
    if (iteration % 4 == 2) step();
    for (i = 1; i <= N; ++i) {
      for (j = 1; j <= N; ++j)
        next[i][j] = 0.5 * now[i][j] + 0.125 * (now[i - 1][j] + now[i + 1][j] + now[i][j - 1] + now[i][j + 1]);
    }
    memcpy(now, next, sizeof(now));
    if (iteration % 5 == 4) {
      double greatest = 0, own = now[1][1];
      MPI_Allreduce(&own, &greatest, 1, MPI_DOUBLE, MPI_MAX, grid);
      CHECK(greatest >= own);
    }
  }
  /* No heat is lost. */
  for (i = 1; i <= N; ++i) {
    for (j = 1; j <= N; ++j) sum += now[i][j];
  }
  MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, grid);
  if (rank == 0) {
    double wanted = 0;
    for (i = 1; i <= dims[0] * N; ++i) {
      for (j = 1; j <= dims[1] * N; ++j) wanted += i * 64 + j + 1024 * round;
    }
    CHECK(all > wanted * (1 - 1e-12) && all < wanted * (1 + 1e-12));
  }
  MPI_Type_free(&column);
  MPI_Comm_free(&grid);
}

static int compare(const void* one, const void* two) {
  const unsigned a = *(const unsigned*)one, b = *(const unsigned*)two;
  return a < b ? -1 : a > b;
}

/* A sort by samples: all ranks give all others what belongs to them. */
static void sort(int round) {
  enum { N = 300 };
  unsigned numbers[N], state = (unsigned)(rank * 7919 + round + 1), sum = 0, sums[2], first, before = 0;
  unsigned *splitters = malloc((size_t)(size * size) * sizeof(unsigned)), *mine;
  int *counts = calloc((size_t)size, sizeof(int)), *incoming = malloc((size_t)size * sizeof(int));
  int *places = malloc((size_t)size * sizeof(int)), *targets = malloc((size_t)size * sizeof(int)), i, all = 0,
      total = 0;
  for (i = 0; i < N; ++i) {
    state = state * 1664525U + 1013904223U;
    numbers[i] = state >> 8;
    sum += numbers[i];
  }
  qsort(numbers, N, sizeof(unsigned), compare);
  for (i = 0; i < size; ++i) splitters[rank * size + i] = numbers[i * N / size];
  step();
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, splitters, size, MPI_UNSIGNED, MPI_COMM_WORLD);
  qsort(splitters, (size_t)(size * size), sizeof(unsigned), compare);
  for (i = 0; i < N; ++i) {
    int target = 0;
    while (target + 1 < size && numbers[i] >= splitters[(target + 1) * size]) ++target;
    ++counts[target];
  }
  step();
  MPI_Alltoall(counts, 1, MPI_INT, incoming, 1, MPI_INT, MPI_COMM_WORLD);
  for (i = 0; i < size; ++i) {
    places[i] = i ? places[i - 1] + counts[i - 1] : 0;
    targets[i] = all;
    all += incoming[i];
  }
  mine = malloc(((size_t)all + 1) * sizeof(unsigned));
  step();
  MPI_Alltoallv(numbers, counts, places, MPI_UNSIGNED, mine, incoming, targets, MPI_UNSIGNED, MPI_COMM_WORLD);
  qsort(mine, (size_t)all, sizeof(unsigned), compare);
  MPI_Reduce(&all, &total, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  CHECK(rank != 0 || total == N * size);
  sums[0] = sum;
  for (i = 0; i < all; ++i) sums[0] -= mine[i];
  step();
  MPI_Allreduce(&sums[0], &sums[1], 1, MPI_UNSIGNED, MPI_SUM, MPI_COMM_WORLD);
  CHECK(sums[1] == 0);
  /* The greatest number below is not greater than the first one here. */
  first = all > 0 ? mine[all - 1] : 0;
  MPI_Exscan(&first, &before, 1, MPI_UNSIGNED, MPI_MAX, MPI_COMM_WORLD);
  CHECK(rank == 0 || all == 0 || before <= mine[0]);
  free(splitters);
  free(counts);
  free(incoming);
  free(places);
  free(targets);
  free(mine);
}

/* A product of matrices in rows: blocks go around the ring. */
static void matrices(int round) {
  enum { N = 6 };
  const int all = N * size, above = (rank + 1) % size, below = (rank + size - 1) % size;
  double *a = malloc(sizeof(double) * N * (size_t)all), *b = malloc(sizeof(double) * N * (size_t)all);
  double* c = calloc(N * (size_t)all, sizeof(double));
  int i, j, k, turn;
  for (i = 0; i < N; ++i) {
    for (j = 0; j < all; ++j) {
      a[i * all + j] = rank * N + i + j;
      b[i * all + j] = (rank * N + i) * 2 - j + round;
    }
  }
  for (turn = 0; turn < size; ++turn) {
    const int owner = (rank + turn) % size;
    step();
    for (i = 0; i < N; ++i) {
      for (k = 0; k < N; ++k) {
        for (j = 0; j < all; ++j) c[i * all + j] += a[i * all + owner * N + k] * b[k * all + j];
      }
    }
    MPI_Sendrecv_replace(b, N * all, MPI_DOUBLE, below, turn, above, turn, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  for (i = 0; i < N; ++i) {
    for (j = 0; j < all; ++j) {
      double wanted = 0;
      for (k = 0; k < all; ++k) wanted += (double)(rank * N + i + k) * (k * 2 - j + round);
      CHECK(c[i * all + j] == wanted);
    }
  }
  free(a);
  free(b);
  free(c);
}

/* A linear system by conjugate gradients: dot products, and edges by blocking messages. */
static void solver(int round) {
  enum { N = 20 };
  double x[N], r[N], p[N + 2], q[N], product[2], sums[2], error = 0, greatest = 0;
  const int above = rank + 1 < size ? rank + 1 : MPI_PROC_NULL, below = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  int i, iteration;
  memset(p, 0, sizeof(p));
  /* The right side is what the numbers 1 + round at all places give. */
  for (i = 0; i < N; ++i) {
    const int neighbours = (rank > 0 || i > 0) + (rank + 1 < size || i + 1 < N);
    x[i] = 0;
    r[i] = p[i + 1] = (1 + round) * (2.5 - neighbours);
  }
  product[0] = 0;
  for (i = 0; i < N; ++i) product[0] += r[i] * r[i];
  MPI_Allreduce(&product[0], &sums[0], 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (iteration = 0; iteration < 60 && sums[0] > 1e-24; ++iteration) {
    double alpha, old = sums[0];
    if (iteration % 8 == 3) step();
    MPI_Sendrecv(&p[N], 1, MPI_DOUBLE, above, 1, &p[0], 1, MPI_DOUBLE, below, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&p[1], 1, MPI_DOUBLE, below, 2, &p[N + 1], 1, MPI_DOUBLE, above, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    product[0] = 0;
    for (i = 0; i < N; ++i) {
      q[i] = 2.5 * p[i + 1] - p[i] - p[i + 2];
      product[0] += q[i] * p[i + 1];
    }
    MPI_Allreduce(product, sums, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    alpha = old / sums[0];
    product[0] = 0;
    for (i = 0; i < N; ++i) {
      x[i] += alpha * p[i + 1];
      r[i] -= alpha * q[i];
      product[0] += r[i] * r[i];
    }
    MPI_Allreduce(product, sums, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (i = 0; i < N; ++i) p[i + 1] = r[i] + sums[0] / old * p[i + 1];
  }
  for (i = 0; i < N; ++i) error = x[i] - (1 + round) > error ? x[i] - (1 + round) : error;
  MPI_Allreduce(&error, &greatest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  CHECK(greatest < 1e-9);
}

enum { TASK = 1, RESULT, END };

/* Rank 0 deals out work to whoever is free. */
static void farm(int round) {
  const int tasks = 12 * size;
  int next = 0, left, i;
  long sum = 0, wanted = 0;
  MPI_Status status;
  for (i = 0; i < tasks; ++i) wanted += (long)i * i + round;
  if (rank == 0) {
    for (i = 1; i < size; ++i) {
      MPI_Send(&next, 1, MPI_INT, i, TASK, MPI_COMM_WORLD);
      ++next;
    }
    for (left = size - 1; left > 0;) {
      long result = 0;
      MPI_Recv(&result, 1, MPI_LONG, MPI_ANY_SOURCE, RESULT, MPI_COMM_WORLD, &status);
      sum += result;
      if (next % 8 == 0) step();
      MPI_Send(&next, 1, MPI_INT, status.MPI_SOURCE, next < tasks ? TASK : END, MPI_COMM_WORLD);
      if (next < tasks) {
        ++next;
      } else {
        --left;
      }
    }
    CHECK(sum == wanted);
  } else {
    for (;;) {
      int task = 0;
      long result;
      MPI_Recv(&task, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
      if (status.MPI_TAG == END) break;
      result = (long)task * task + round;
      step();
      MPI_Send(&result, 1, MPI_LONG, 0, RESULT, MPI_COMM_WORLD);
    }
  }
  MPI_Bcast(&sum, 1, MPI_LONG, 0, MPI_COMM_WORLD);
  CHECK(sum == wanted);
}

/* Particles that move to the neighbour in whose part they are: lengths are not known before. */
static void particles(int round) {
  enum { MOST = 400 };
  int own[MOST], staying[MOST], going[2][MOST], numbers[2], count = 20, all = 0, moves, way, i;
  for (i = 0; i < count; ++i) own[i] = rank * 1000 + i + round;
  for (moves = 0; moves < 10; ++moves) {
    const int to[2] = {(rank + 1) % size, (rank + size - 1) % size};
    MPI_Request requests[2];
    int stay = 0;
    numbers[0] = numbers[1] = 0;
    for (i = 0; i < count; ++i) {
      const int where = (own[i] * 7 + moves * 5) % 3;
      if (where == 2) {
        staying[stay++] = own[i];
      } else {
        going[where][numbers[where]++] = own[i];
      }
    }
    if (moves % 3 == 0) step();
    for (way = 0; way < 2; ++way)
      MPI_Isend(going[way], numbers[way], MPI_INT, to[way], 10 + way, MPI_COMM_WORLD, &requests[way]);
    count = stay;
    memcpy(own, staying, sizeof(int) * (size_t)stay);
    for (way = 0; way < 2; ++way) {
      MPI_Status status;
      int more = 0;
      /* From both sides, whichever comes first. */
      MPI_Probe(MPI_ANY_SOURCE, size == 2 ? 10 + way : MPI_ANY_TAG, MPI_COMM_WORLD, &status);
      MPI_Get_count(&status, MPI_INT, &more);
      CHECK(count + more <= MOST);
      MPI_Recv(own + count, more, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      count += more;
    }
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Allreduce(&count, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all == 20 * size);
  }
}

static const struct Case cases[] = {{"heat", heat},     {"sort", sort}, {"matrices", matrices},
                                    {"solver", solver}, {"farm", farm}, {"particles", particles}};

int main(int argc, char** argv) { return run_cases(argc, argv, cases, COUNT_OF(cases)); }
