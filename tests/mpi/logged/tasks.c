/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program that knows nothing of Fenix: rank 0 gives tasks to whoever is free. The sum of the results does not depend on who does which.
 *
 *   tasks [TASKS]
 */
#define _DEFAULT_SOURCE

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { READY, TASK, RESULT, END };

static void require(int holds, const char* what) {
  if (holds) return;
  printf("FENIX-TEST-FAIL %s\n", what);
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static long result_of(int task) { return (long)task * task + 1; }

static void lead(int tasks, int size) {
  long sum = 0, wanted = 0;
  int given = 0;
  for (int task = 0; task < tasks; ++task) wanted += result_of(task);
  for (int left = size - 1; left > 0;) {
    long result = 0;
    MPI_Status status;
    MPI_Recv(&result, 1, MPI_LONG, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    require(status.MPI_TAG == READY || status.MPI_TAG == RESULT, "a message of the program has another tag");
    sum += result;
    const int tag = given < tasks ? TASK : END;
    MPI_Send(&given, 1, MPI_INT, status.MPI_SOURCE, tag, MPI_COMM_WORLD);
    if (tag == TASK) ++given;
    if (tag == END) --left;
  }
  require(sum == wanted, "the sum is another one");
}

static void work(int rank) {
  long result = 0;
  MPI_Send(&result, 1, MPI_LONG, 0, READY, MPI_COMM_WORLD);
  for (;;) {
    int task = 0;
    MPI_Status status;
    MPI_Recv(&task, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    if (status.MPI_TAG == END) return;
    usleep((useconds_t)(task * 31 + rank * 17) % 300);
    result = result_of(task);
    MPI_Send(&result, 1, MPI_LONG, 0, RESULT, MPI_COMM_WORLD);
  }
}

/* Such tags are those of the library. */
static void try_tag(void) {
  int value = 0, error_class = MPI_SUCCESS;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Error_class(MPI_Send(&value, 1, MPI_INT, 0, 0x40000000, MPI_COMM_WORLD), &error_class);
  require(error_class == MPI_ERR_TAG, "a tag of the library is not refused");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  try_tag();
  if (rank == 0) {
    lead(argc > 1 ? atoi(argv[1]) : 60, size);
  } else {
    work(rank);
  }
  printf("FENIX-TEST-OK rank %d, process %s\n", rank, getenv("PMIX_RANK"));
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
