/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program that knows nothing of Fenix, and looks at what MPI_Init has given it.
 *
 *   begins RANKS [threads|other]   RANKS: without the spares; threads: asks for MPI_THREAD_MULTIPLE; other: rank 1 has no FENIX_SPARES
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(int is_right, const char* what) {
  if (is_right) return;
  printf("FENIX-TEST-FAIL %s\n", what);
  exit(EXIT_FAILURE);
}

int main(int argc, char** argv) {
  int rank, size, provided = MPI_THREAD_MULTIPLE, level = MPI_THREAD_MULTIPLE, sum = 0;
  const int wanted = atoi(argv[1]);
  const char* mode = argc > 2 ? argv[2] : "";
  if (strcmp(mode, "other") == 0 && atoi(getenv("PMIX_RANK")) == 1) unsetenv("FENIX_SPARES");
  if (strcmp(mode, "threads") == 0) {
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    check(provided == MPI_THREAD_SERIALIZED, "MPI_Init_thread gives another level");
  } else {
    MPI_Init(&argc, &argv);
  }
  MPI_Query_thread(&level);
  check(level <= MPI_THREAD_SERIALIZED, "MPI_Query_thread gives another level");
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (strcmp(mode, "other") == 0) MPI_Barrier(MPI_COMM_WORLD);
  check(size == wanted, "the program runs on another number of ranks");
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  check(sum == wanted * (wanted - 1) / 2, "the sum is wrong");
  printf("FENIX-TEST-OK rank %d\n", rank);
  MPI_Finalize();
  return EXIT_SUCCESS;
}
