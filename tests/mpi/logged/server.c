/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program that knows nothing of Fenix: rank 0 gets messages of all others in whatever order they come, far more than a log has room for.
 *
 *   server MODE [MESSAGES]
 *
 * MODE: answer (it answers each one), take (it sends nothing). MESSAGES: of each rank.
 */
#include <malloc.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REQUEST = 1, ANSWER = 2, MOST_GROWTH = 2 << 20 };

static int rank, size, answers;

static void require(int holds, const char* what, long a, long b) {
  if (holds) return;
  printf("FENIX-TEST-FAIL rank %d: %s: %ld and %ld\n", rank, what, a, b);
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static long used(void) { return (long)mallinfo2().uordblks; }

static void serve(int messages) {
  long next[64] = {0};
  long used_before = 0;
  const int all = messages * (size - 1);
  for (int i = 0; i < all; ++i) {
    long value = 0;
    MPI_Status status;
    if (i == all / 4) used_before = used();
    MPI_Recv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    require(value == next[status.MPI_SOURCE], "a request", value, next[status.MPI_SOURCE]);
    ++next[status.MPI_SOURCE];
    value *= 3;
    if (answers) MPI_Send(&value, 1, MPI_LONG, status.MPI_SOURCE, ANSWER, MPI_COMM_WORLD);
  }
  /* Its memory does not keep for ever which messages it has got. */
  if (!answers) require(used() - used_before < MOST_GROWTH, "bytes of the heap", used(), used_before);
}

static void ask(int messages) {
  for (long i = 0; i < messages; ++i) {
    long value = i;
    MPI_Send(&value, 1, MPI_LONG, 0, REQUEST, MPI_COMM_WORLD);
    if (!answers) continue;
    MPI_Recv(&value, 1, MPI_LONG, 0, ANSWER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    require(value == 3 * i, "an answer", value, 3 * i);
  }
}

int main(int argc, char** argv) {
  const int messages = argc > 2 ? atoi(argv[2]) : 5000;
  answers = argc < 2 || strcmp(argv[1], "answer") == 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank == 0) {
    serve(messages);
  } else {
    ask(messages);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  printf("FENIX-TEST-OK rank %d, process %s\n", rank, getenv("PMIX_RANK"));
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
