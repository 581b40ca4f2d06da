/* Example 4.2: storing data objects with subsets. Each iteration stores only the triangle that it has changed. */
#include "example.h"

enum { SPARES = 2, lda = 100 }; /* mend: an array with a const int as its size would be one of variable length */

static void initialize(double* A, int rank) {
  for (int i = 0; i < lda * lda; i++) A[i] = i % 97 + rank;
}

/* Changes the rows from row it, each from its diagonal element to its end. */
static void work1(double* A, int it, MPI_Comm comm) { /* mend: the array, not one element of it */
  double pivot;
  MPI_Allreduce(&A[lda * it + it], &pivot, 1, MPI_DOUBLE, MPI_MAX, comm);
  for (int row = it; row < lda; row++)
    for (int column = row; column < lda; column++) A[lda * row + column] += pivot / (1 + row + column);
}

/* Computes as the version of 4.2 that tolerates no faults. */
static void reference(double* A, int rank, MPI_Comm comm) {
  initialize(A, rank);
  for (int it = 0; it < 100; it++) work1(A, it, comm);
}

int main(int argc, char** argv) {
  static int it, role, rank, error, flag;          /* mend: static, as survivors jump back into Fenix_Init */
  static double A[lda * lda], A_wanted[lda * lda]; /* mend: of the type that is stored */
  static int start_offset_A[lda], end_offset_A[lda];
  static MPI_Comm new_comm_world; /* mend: declared */
  static Fenix_Data_subset subset_LU;

  MPI_Init(&argc, &argv);
  Fenix_Init(MPI_COMM_WORLD, &new_comm_world, &role, &argc, &argv, SPARES, 0, MPI_INFO_NULL, &error);
  check(error);
  MPI_Comm_rank(new_comm_world, &rank);
  /* regardless of role, we (re)create the data group */
  check(Fenix_Data_group_create(66, new_comm_world, 0, 0));
  if (!error && is_new(66)) { /* mend: not by the role, as a failure may come before the first commit */
    it = 0;
    initialize(A, rank);
    check(Fenix_Data_member_define(66, 90, (VP)&it, 1, MPI_INT)); /* mend: some may exist after such a failure */
    check(Fenix_Data_member_define(66, 91, (VP)A, 10000, MPI_DOUBLE));
    check(Fenix_Data_member_store(66, FENIX_DATA_MEMBER_ALL, FULL));
    check(Fenix_Data_commit(66, NULL));
  } else {
    /* ranks recovered from a failure, now restore data */
    check(Fenix_Data_restore(66, 90, (VP)&it, 1, LATEST));
    check(Fenix_Data_restore(66, 91, (VP)A, 10000, LATEST));
    /* mend: recovered ranks have to say where their data lives */
    check(Fenix_Data_member_attr_set(66, 90, BUF, (VP)&it, &flag));
    check(Fenix_Data_member_attr_set(66, 91, BUF, (VP)A, &flag));
  }

  while (it < 100) {
    /* Create a subset */
    for (int j = it; j < 100; j++) {
      start_offset_A[j] = j * lda + j;
      end_offset_A[j] = j * lda + lda - 1; /* mend: the end of the row; the last one has no further elements */
    }
    /* mend: blocks it to 99, not 0 to 99 - it */
    check(Fenix_Data_subset_create(100 - it, start_offset_A + it, end_offset_A + it, &subset_LU));

    work1(A, it, new_comm_world);
    check(Fenix_Data_member_store(66, 91, subset_LU)); /* mend: three arguments */
    it++; /* mend: stored after the work, it counts the iterations that are in A */
    check(Fenix_Data_member_store(66, 90, FULL)); /* mend: three arguments */

    check(Fenix_Data_commit(66, NULL));
    check(Fenix_Data_subset_delete(&subset_LU)); /* garbage collection */
  }

  reference(A_wanted, rank, new_comm_world);
  check_equal(A, A_wanted, sizeof A, "A is wrong");
  finish(rank);
  return EXIT_SUCCESS;
}
