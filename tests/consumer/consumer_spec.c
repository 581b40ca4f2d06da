/* The smallest C program in the forms of specification 1.0; <fenix.h> before or after makes no difference. */
#include <fenix.h>
#include <stdio.h>

#include <fenix/spec.h>

#include <fenix/data.h>
#include <fenix/init.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int role = -1;
  int error = -1;
  MPI_Comm comm = MPI_COMM_NULL;
  Fenix_Init(MPI_COMM_WORLD, &comm, &role, &argc, &argv, 0, 0, MPI_INFO_NULL, &error);
  int value = 42;
  int good = error == FENIX_SUCCESS && Fenix_Data_group_create(1, comm, 0, 0) == FENIX_SUCCESS &&
             Fenix_Data_member_create(1, 2, &value, 1, MPI_INT) == FENIX_SUCCESS &&
             Fenix_Data_member_store(1, 2, FENIX_DATA_SUBSET_FULL) == FENIX_SUCCESS &&
             Fenix_Data_commit_barrier(1, NULL) == FENIX_SUCCESS;
  value = 0;
  good = good && Fenix_Data_member_restore(1, 2, &value, 1, FENIX_DATA_SNAPSHOT_LATEST) == FENIX_SUCCESS && value == 42;
  Fenix_Finalize();
  MPI_Finalize();

  printf("FENIX-TEST-%s a rank in the forms of the specification\n", good ? "OK" : "FAIL");
  return good ? 0 : 1;
}
