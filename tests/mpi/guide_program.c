/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The program of docs/tutorial.md: scripts/check guide compares them. With an argument, rank 1 dies in step 50. */
/* example: program */
#include <fenix.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

enum { SPARES = 1, GROUP = 0, FIELD = 0, CELLS = 1000 };

static MPI_Comm comm; /* static, because survivors jump: see step 5 */
static int role, error, rank;
static double field[CELLS];

static void check(int code) {
  if (code >= 0) return;
  fprintf(stderr, "%s\n", Fenix_Error_message());
  MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

static void compute(void) { /* one step, with its communication on comm */
  for (int i = 0; i < CELLS; ++i) field[i] += 1.0;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  /* Each process comes here once, spares included. */

  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, SPARES, &error);
  /* Survivors and replacements come here after each failure. Data divided by rank: error also tells if comm has become smaller. */
  check(error);
  MPI_Comm_rank(comm, &rank);

  check(Fenix_Data_group_create(GROUP, comm, 0, 0, FENIX_DATA_POLICY_IN_MEMORY_RAID, NULL, NULL));
  if (Fenix_Data_member_created(GROUP, FIELD))
    check(Fenix_Data_member_attr_set(GROUP, FIELD, FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER, field, NULL));
  else
    check(Fenix_Data_member_create(GROUP, FIELD, field, CELLS, MPI_DOUBLE));

  int found = Fenix_Data_member_restore(GROUP, FIELD, field, CELLS, FENIX_DATA_SNAPSHOT_LATEST, NULL);
  if (found == FENIX_ERROR_NODATA_FOUND) { /* nothing was committed yet, or it is lost: the initial state */
    for (int i = 0; i < CELLS; ++i) field[i] = 0.0;
  } else {
    check(found);
  }
  if (role == FENIX_ROLE_SURVIVOR_RANK) printf("rank %d: survivor, continues after step %.0f\n", rank, field[0]);
  if (role == FENIX_ROLE_RECOVERED_RANK) printf("rank %d: replacement, continues after step %.0f\n", rank, field[0]);

  while (field[0] < 100.0) {
    if (argc > 1 && rank == 1 && field[0] == 50.0 && role == FENIX_ROLE_INITIAL_RANK) raise(SIGKILL);
    compute();
    check(Fenix_Data_member_store(GROUP, FIELD, FENIX_DATA_SUBSET_FULL));
    check(Fenix_Data_commit_barrier(GROUP, FENIX_TIME_STAMP_IGNORE));
  }
  if (rank == 0) printf("finished after step %.0f\n", field[0]);
  check(Fenix_Finalize());
  MPI_Finalize();
  return EXIT_SUCCESS;
}
/* end */
