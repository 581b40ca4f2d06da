/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program whose log has gone on in files, and somebody overwrites them. Then rank 1 dies: its replacement needs messages that are there.
 *
 *   damaged FOLDER
 *
 * FOLDER: for the files, given to this program alone.
 */
#include <dirent.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { kSteps = 2000, kNumbers = 100 };

static void overwrite(const char* name) {
  struct stat known;
  FILE* const file = fopen(name, "r+b");
  if (file == NULL || stat(name, &known) != 0) return;
  for (long i = 0; i < known.st_size; ++i) fputc(0x55, file);
  fclose(file);
}

static int overwrite_all(const char* folder) {
  DIR* const files = opendir(folder);
  const struct dirent* each;
  char name[4096];
  int count = 0;
  while (files != NULL && (each = readdir(files)) != NULL) {
    if (strncmp(each->d_name, "fenix-mlog-", 11) != 0) continue;
    snprintf(name, sizeof(name), "%s/%s", folder, each->d_name);
    overwrite(name);
    ++count;
  }
  if (files != NULL) closedir(files);
  return count;
}

int main(int argc, char** argv) {
  int rank, size, files = 0;
  double mine[kNumbers] = {0}, others[kNumbers] = {0};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  /* The number that its launcher has given it. */
  const int is_first = atoi(getenv("PMIX_RANK")) == rank;
  for (int i = 0; i < kSteps; ++i) {
    mine[i % kNumbers] = others[(i + 7) % kNumbers] + rank + 1;
    MPI_Sendrecv(mine, kNumbers, MPI_DOUBLE, (rank + 1) % size, 0, others, kNumbers, MPI_DOUBLE,
                 (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) files = argc > 1 ? overwrite_all(argv[1]) : 0;
  if (rank == 0 && files == 0) {
    printf("FENIX-TEST-FAIL no file of a log\n");
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1 && is_first) raise(SIGKILL);
  MPI_Barrier(MPI_COMM_WORLD);
  printf("FENIX-TEST-OK %.17g\n", others[0]);
  MPI_Finalize();
  return 0;
}
