/* SPDX-License-Identifier: BSD-3-Clause */
/* Files and windows of a process alone, where messages are logged: rank 1 dies, and its successor writes its file anew.
 * usage: made_alone [dies]
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define FAIL(...) \
  (printf("FENIX-TEST-FAIL rank %d: ", rank), printf(__VA_ARGS__), printf("\n"), MPI_Abort(MPI_COMM_WORLD, 3))
enum { STEPS = 6 };

int main(int argc, char** argv) {
  int rank, size, sum = 0;
  int* memory = NULL;
  char name[256];
  MPI_Comm alone;
  MPI_File files[2];
  MPI_Win win;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int dies = argc > 1 && rank == 1 && atoi(getenv("PMIX_RANK")) == rank;
  MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &alone);
  for (int i = 0; i < 2; ++i) {
    snprintf(name, sizeof name, "made_alone.%s.%d.%d", getenv("PMIX_NAMESPACE"), rank, i);
    const int error =
        MPI_File_open(i ? alone : MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                      MPI_INFO_NULL, &files[i]);
    if (error != MPI_SUCCESS) FAIL("MPI_File_open returned %d", error);
  }
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, alone, &memory, &win);
  for (int step = 0; step < STEPS; ++step) {
    const int own = rank * 100 + step;
    if (dies && step == 3) raise(SIGKILL);
    MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_File_write_at(files[0], step * sizeof sum, &sum, 1, MPI_INT, MPI_STATUS_IGNORE);
    /* Collective over one process. */
    MPI_File_write_at_all(files[1], step * sizeof sum, &sum, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_Win_fence(0, win);
    MPI_Put(&sum, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    if (*memory != sum) FAIL("the window has %d, not %d", *memory, sum);
  }
  for (int i = 0; i < 2; ++i) {
    int found[STEPS] = {0};
    MPI_File_sync(files[i]);
    MPI_File_read_at(files[i], 0, found, STEPS, MPI_INT, MPI_STATUS_IGNORE);
    for (int step = 0; step < STEPS; ++step) {
      const int expected = size * (size - 1) / 2 * 100 + size * step;
      if (found[step] != expected) FAIL("file %d has %d for step %d, not %d", i, found[step], step, expected);
    }
    if (MPI_File_close(&files[i]) != MPI_SUCCESS) FAIL("MPI_File_close");
  }
  MPI_Win_free(&win);
  MPI_Comm_free(&alone);
  printf("FENIX-TEST-OK rank %d\n", rank);
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
