/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes communicators again and again, and uses each. No call of Fenix. Prints rank, iteration and value, for check-exchange. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { KINDS = 5 };

/* Makes a communicator of one kind. */
static MPI_Comm make(int kind, int iteration, int rank, int size) {
  const int dims[2] = {size / 2, 2};
  const int periods[2] = {1, 0};
  const int range[1][3] = {{0, size - 1, 1}};
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm between = MPI_COMM_NULL;
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group some = MPI_GROUP_NULL;
  switch (kind) {
    case 0:
      MPI_Comm_split(MPI_COMM_WORLD, (rank + iteration) % 3 == 0 ? MPI_UNDEFINED : rank % 2, -rank, &made);
      break;
    case 1:
      MPI_Comm_dup(MPI_COMM_WORLD, &made);
      break;
    case 2:
      MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &made);
      break;
    case 3:
      MPI_Comm_group(MPI_COMM_WORLD, &all);
      MPI_Group_range_incl(all, 1, (int(*)[3])range, &some);
      MPI_Comm_create(MPI_COMM_WORLD, some, &made);
      MPI_Group_free(&some);
      MPI_Group_free(&all);
      break;
    default:
      MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &between);
      MPI_Comm_dup(between, &made);
      MPI_Comm_free(&between);
  }
  return made;
}

int main(int argc, char** argv) {
  const int iterations = argc > 1 ? atoi(argv[1]) : 20;
  int rank = 0;
  int size = 0;
  long value = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  value = rank;
  for (int iteration = 0; iteration < iterations; ++iteration) {
    for (int kind = 0; kind < KINDS; ++kind) {
      MPI_Comm made = make(kind, iteration, rank, size);
      long own = value;
      if (made != MPI_COMM_NULL) {
        int number = 0;
        MPI_Comm_rank(made, &number);
        own = own * 31 + number;
        MPI_Scan(&own, &value, 1, MPI_LONG, MPI_SUM, made);
        value %= 1000003;
        MPI_Comm_free(&made);
      }
      printf("%d %d %ld\n", rank, iteration * KINDS + kind, value);
      fflush(stdout);
    }
  }
  printf("Final: %d %ld\n", rank, value);
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
