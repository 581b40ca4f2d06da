/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program that knows nothing of Fenix: cells in a ring take values from their neighbours, step by step. Each rank computes the whole ring
 * as well, and compares its own cells with it at the end.
 *
 *   halo MODE [STEPS]
 *
 * MODE: init (persistent requests), isendrecv or replace (MPI_Isendrecv and MPI_Isendrecv_replace).
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 3000, LEFTWARD = 1, RIGHTWARD = 2 };

static unsigned mix(unsigned left, unsigned own, unsigned right) { return own * 3 + left * 5 + right * 7 + 1; }

/* The first and the last cell of cells are those of the neighbours. */
static void step(unsigned* cells, int count) {
  unsigned left = cells[0];
  for (int i = 1; i <= count; ++i) {
    const unsigned own = cells[i];
    cells[i] = mix(left, own, cells[i + 1]);
    left = own;
  }
}

static void compare(const unsigned* mine, int rank, int size, int steps) {
  const int all = CELLS * size;
  unsigned* ring = malloc(sizeof *ring * (size_t)(all + 2));
  for (int i = 1; i <= all; ++i) ring[i] = (unsigned)i;
  for (int i = 0; i < steps; ++i) {
    ring[0] = ring[all];
    ring[all + 1] = ring[1];
    step(ring, all);
  }
  const int same = memcmp(mine + 1, ring + 1 + rank * CELLS, sizeof *ring * CELLS) == 0;
  printf("FENIX-TEST-%s rank %d, process %s\n", same ? "OK" : "FAIL other cells:", rank, getenv("PMIX_RANK"));
  fflush(stdout);
  free(ring);
}

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "init";
  const int steps = argc > 2 ? atoi(argv[2]) : 40;
  static unsigned cells[CELLS + 2];
  MPI_Request requests[4];
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int left = (rank + size - 1) % size, right = (rank + 1) % size;
  for (int i = 1; i <= CELLS; ++i) cells[i] = (unsigned)(rank * CELLS + i);
  const int is_init = strcmp(mode, "init") == 0;
  if (is_init) {
    MPI_Recv_init(cells, 1, MPI_UNSIGNED, left, RIGHTWARD, MPI_COMM_WORLD, requests);
    MPI_Recv_init(cells + CELLS + 1, 1, MPI_UNSIGNED, right, LEFTWARD, MPI_COMM_WORLD, requests + 1);
    MPI_Send_init(cells + 1, 1, MPI_UNSIGNED, left, LEFTWARD, MPI_COMM_WORLD, requests + 2);
    MPI_Ssend_init(cells + CELLS, 1, MPI_UNSIGNED, right, RIGHTWARD, MPI_COMM_WORLD, requests + 3);
  }
  for (int i = 0; i < steps; ++i) {
    if (is_init) {
      MPI_Startall(4, requests);
      MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    } else if (strcmp(mode, "isendrecv") == 0) {
      MPI_Isendrecv(cells + 1, 1, MPI_UNSIGNED, left, LEFTWARD, cells + CELLS + 1, 1, MPI_UNSIGNED, right, LEFTWARD,
                    MPI_COMM_WORLD, requests);
      MPI_Isendrecv(cells + CELLS, 1, MPI_UNSIGNED, right, RIGHTWARD, cells, 1, MPI_UNSIGNED, left, RIGHTWARD,
                    MPI_COMM_WORLD, requests + 1);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else {
      cells[0] = cells[CELLS];
      cells[CELLS + 1] = cells[1];
      MPI_Isendrecv_replace(cells + CELLS + 1, 1, MPI_UNSIGNED, left, LEFTWARD, right, LEFTWARD, MPI_COMM_WORLD,
                            requests);
      MPI_Isendrecv_replace(cells, 1, MPI_UNSIGNED, right, RIGHTWARD, left, RIGHTWARD, MPI_COMM_WORLD, requests + 1);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    step(cells, CELLS);
  }
  for (int i = 0; is_init && i < 4; ++i) MPI_Request_free(requests + i);
  compare(cells, rank, size, steps);
  MPI_Finalize();
  return 0;
}
