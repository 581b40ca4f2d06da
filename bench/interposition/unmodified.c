/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages of a program that knows nothing of Fenix. bench/interposition/measure_unmodified runs it plain and preloaded, in turn.
 *
 *   unmodified CASE NUMBER
 *
 * Prints the median of the time of a message, in microseconds. CASE: together (NUMBER messages of one int, begun together and awaited by
 * MPI_Waitall), column (a column of a matrix of NUMBER rows, by MPI_Type_vector), turns (one int, on two communicators in turn).
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCHES = 50, ENOUGH = 2000, MOST = 4000 };

static int rank, number;

static void together(void) {
  static int sent[MOST], got[MOST];
  static MPI_Request requests[2 * MOST];
  for (int i = 0; i < number; ++i) MPI_Irecv(got + i, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, requests + i);
  for (int i = 0; i < number; ++i) MPI_Isend(sent + i, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, requests + number + i);
  MPI_Waitall(2 * number, requests, MPI_STATUSES_IGNORE);
}

static void there_and_back(void* buffer, MPI_Datatype type, MPI_Comm comm) {
  if (rank == 0) MPI_Send(buffer, 1, type, 1, 0, comm);
  MPI_Recv(buffer, 1, type, 1 - rank, 0, comm, MPI_STATUS_IGNORE);
  if (rank == 1) MPI_Send(buffer, 1, type, 0, 0, comm);
}

static int compare(const void* a, const void* b) {
  const double one = *(const double*)a, other = *(const double*)b;
  return (one > other) - (one < other);
}

int main(int argc, char** argv) {
  const char* const name = argc > 1 ? argv[1] : "together";
  double times[BATCHES];
  MPI_Comm other;
  MPI_Datatype column;
  int value = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  number = argc > 2 ? atoi(argv[2]) : 20;
  if (number < 1 || number > MOST) MPI_Abort(MPI_COMM_WORLD, 1);
  double* const matrix = calloc((size_t)number * (size_t)number, sizeof *matrix);
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  MPI_Type_vector(number, 1, number, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  for (int batch = 0; batch < BATCHES; ++batch) {
    int messages = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    while (messages < ENOUGH) {
      if (strcmp(name, "together") == 0) {
        together();
        messages += number;
      } else if (strcmp(name, "column") == 0) {
        there_and_back(matrix, column, MPI_COMM_WORLD);
        messages += 2;
      } else {
        there_and_back(&value, MPI_INT, MPI_COMM_WORLD);
        there_and_back(&value, MPI_INT, other);
        messages += 4;
      }
    }
    times[batch] = (MPI_Wtime() - start) / messages * 1e6;
  }
  qsort(times, BATCHES, sizeof *times, compare);
  if (rank == 0) printf("%s %d: %.4f\n", name, number, times[BATCHES / 2]);
  MPI_Type_free(&column);
  MPI_Comm_free(&other);
  free(matrix);
  MPI_Finalize();
  return 0;
}
