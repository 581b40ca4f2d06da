/* The smallest C program that uses the installed package. */
#include <fenix.h>
#include <stdio.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int before = -1;
  Fenix_Initialized(&before);

  int role = -1;
  int error = -1;
  MPI_Comm comm = MPI_COMM_NULL;
#ifdef NEWCOMM_NULL
  comm = MPI_COMM_WORLD;
  Fenix_Init(&role, MPI_COMM_WORLD, NULL, &argc, &argv, 0, &error);
#else
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 0, &error);
#endif
  int after = -1;
  Fenix_Initialized(&after);

  int sum = 0;
  int one = 1;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
  const int good = before == 0 && after == 1 && error == FENIX_SUCCESS && role == FENIX_ROLE_INITIAL_RANK;
  Fenix_Finalize();
  MPI_Finalize();

  printf("FENIX-TEST-%s one of %d ranks in C\n", good ? "OK" : "FAIL", sum);
  return good ? 0 : 1;
}
