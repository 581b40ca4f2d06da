/* Example 4.1: protecting process and data. */
#include "example.h"

enum { SPARES = 2, ITERATIONS = 1000 }; /* mend: 10 spares are too many for a laptop */

static void initialize(int* A, int* B) {
  for (int i = 0; i < 100; i++) A[i] = i;
  for (int i = 0; i < 50; i++) B[i] = -i;
}

/* Makes A[0] the same on all ranks, because they have to agree whether they call work2. */
static void work1(int* A, MPI_Comm comm) {
  int rank, sum;
  MPI_Comm_rank(comm, &rank);
  for (int i = 1; i < 100; i++) A[i] = (A[i] * 3 + A[i - 1] + rank) % 1009;
  MPI_Allreduce(&A[99], &sum, 1, MPI_INT, MPI_SUM, comm);
  A[0] = sum % 401;
}

static void work2(int* A, int* B, MPI_Comm comm) {
  int most;
  MPI_Allreduce(&A[50], &most, 1, MPI_INT, MPI_MAX, comm);
  for (int i = 0; i < 50; i++) B[i] = (B[i] + A[i] + most) % 2003;
}

/* Computes as the version of 4.1 that tolerates no faults. */
static void reference(int* A, int* B, MPI_Comm comm) {
  initialize(A, B);
  for (int it = 0; it < ITERATIONS; it++) {
    work1(A, comm);
    if (A[0] > 200) work2(A, B, comm);
  }
}

int main(int argc, char** argv) {
  static int it, A[100], B[50], role, flag, error; /* mend: static, as survivors jump back into Fenix_Init */
  static MPI_Comm new_comm_world;

  MPI_Init(&argc, &argv);
  Fenix_Init(MPI_COMM_WORLD, &new_comm_world, &role, &argc, &argv, SPARES, 0, MPI_INFO_NULL, &error);
  /* regardless of role, we (re)create the data group */
  check(Fenix_Data_group_create(66, new_comm_world, 0, 0));
  if (!error && is_new(66)) { /* mend: not by the role, as a failure may come before the first commit */
    it = 0;
    initialize(A, B);
    check(Fenix_Data_member_define(66, 90, (VP)&it, 1, MPI_INT)); /* mend: some may exist after such a failure */
    check(Fenix_Data_member_define(66, 91, (VP)A, 100, MPI_INT));
    check(Fenix_Data_member_define(66, 92, (VP)B, 50, MPI_INT));
    check(Fenix_Data_member_store(66, FENIX_DATA_MEMBER_ALL, FULL)); /* mend: all, as all are restored */
    check(Fenix_Data_commit_barrier(66, NULL));
  } else if (!error) {
    /* ranks recovered from a failure, now restore data */
    check(Fenix_Data_member_restore(66, 90, (VP)&it, 1, LATEST));
    check(Fenix_Data_member_restore(66, 91, (VP)A, 100, LATEST));
    check(Fenix_Data_member_restore(66, 92, (VP)B, 50, LATEST));
    /* need to say where member data lives, for future stores */
    check(Fenix_Data_member_attr_set(66, 90, BUF, (VP)&it, &flag));
    check(Fenix_Data_member_attr_set(66, 91, BUF, (VP)A, &flag));
    check(Fenix_Data_member_attr_set(66, 92, BUF, (VP)B, &flag));
  } else {
    MPI_Abort(MPI_COMM_WORLD, -1);
  }

  while (it < ITERATIONS) {
    work1(A, new_comm_world);
    if (A[0] > 200) {
      work2(A, B, new_comm_world);
      check(Fenix_Data_member_store(66, 92, FULL));
    }
    check(Fenix_Data_member_store(66, 91, FULL));
    it++; /* mend: stored after the work, it counts the iterations that are in A and B */
    check(Fenix_Data_member_store(66, 90, FULL));
    check(Fenix_Data_commit_barrier(66, NULL));
  }

  int rank, A_wanted[100], B_wanted[50];
  MPI_Comm_rank(new_comm_world, &rank);
  reference(A_wanted, B_wanted, new_comm_world);
  check_equal(A, A_wanted, sizeof A, "A is wrong");
  check_equal(B, B_wanted, sizeof B, "B is wrong");
  finish(rank);
  return EXIT_SUCCESS;
}
