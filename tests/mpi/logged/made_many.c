/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes and frees communicators again and again, and says what memory and time that takes.
 * usage: made_many COUNT [AT]
 *   AT: rank 1 dies before the one with this number
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAIL(...) \
  (printf("FENIX-TEST-FAIL rank %d: ", rank), printf(__VA_ARGS__), printf("\n"), MPI_Abort(MPI_COMM_WORLD, 3))

static long kilobytes(void) {
  char line[256];
  long found = 0;
  FILE* file = fopen("/proc/self/status", "r");
  while (file && fgets(line, sizeof line, file)) {
    if (strncmp(line, "VmRSS:", 6) == 0) found = atol(line + 6);
  }
  if (file) fclose(file);
  return found;
}

int main(int argc, char** argv) {
  const int count = argc > 1 ? atoi(argv[1]) : 100;
  const int at = argc > 2 ? atoi(argv[2]) : -1;
  int rank, size, sum;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  const long memory = kilobytes();
  const double begin = MPI_Wtime();
  for (int i = 0; i < count; ++i) {
    MPI_Comm made;
    if (i == at && rank == 1 && atoi(getenv("PMIX_RANK")) == rank) raise(SIGKILL);
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, made);
    if (sum != i * size) FAIL("the sum is %d in step %d", sum, i);
    MPI_Comm_free(&made);
  }
  printf("made_many: rank %d: %d communicators, %.1f s, %ld KiB more\n", rank, count, MPI_Wtime() - begin,
         kilobytes() - memory);
  printf("FENIX-TEST-OK rank %d\n", rank);
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
