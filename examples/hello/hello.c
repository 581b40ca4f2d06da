/* Computes a sum, and survives kill -9. Run 4 ranks and 1 spare: mpirun --with-ft ulfm -n 5 hello */
#include <fenix.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

enum { SPARES = 1, GROUP = 0, STATE = 0, STEPS = 10 };

static void check(int code) {
  if (code >= 0) return;
  fprintf(stderr, "hello: %s\n", Fenix_Error_message());
  MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

int main(int argc, char** argv) {
  /* static, because survivors jump back into Fenix_Init, and longjmp leaves other local variables undefined */
  static MPI_Comm comm;
  static int role, error, rank;
  static long state[2]; /* state that must survive: steps done, sum */

  MPI_Init(&argc, &argv);
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, SPARES, &error);
  /* All ranks come here at the start. Survivors and replacements come here again after each failure. */
  check(error);
  MPI_Comm_rank(comm, &rank);

  check(Fenix_Data_group_create(GROUP, comm, 0, 0, FENIX_DATA_POLICY_IN_MEMORY_RAID, NULL, NULL));
  if (Fenix_Data_member_created(GROUP, STATE)) /* a replacement has the member, but not its buffer */
    check(Fenix_Data_member_attr_set(GROUP, STATE, FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER, state, NULL));
  else
    check(Fenix_Data_member_create(GROUP, STATE, state, 2, MPI_LONG));

  int found = Fenix_Data_member_restore(GROUP, STATE, state, 2, FENIX_DATA_SNAPSHOT_LATEST, FENIX_DATA_SUBSET_IGNORE);
  if (found == FENIX_ERROR_NODATA_FOUND) /* no snapshot has been committed yet */
    state[0] = state[1] = 0;
  else
    check(found);
  if (role == FENIX_ROLE_RECOVERED_RANK) printf("rank %d: a spare took over, at step %ld\n", rank, state[0]);
  if (role == FENIX_ROLE_SURVIVOR_RANK) printf("rank %d: survived, goes on at step %ld\n", rank, state[0]);

  while (state[0] < STEPS) {
    if (rank == 1 && state[0] == 5 && role == FENIX_ROLE_INITIAL_RANK) {
      printf("rank 1: dies in step 5\n");
      fflush(stdout);
      raise(SIGKILL);
    }
    long mine = rank + state[0], all;
    MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, comm);
    state[1] += all;
    state[0] += 1;
    check(Fenix_Data_member_store(GROUP, STATE, FENIX_DATA_SUBSET_FULL));
    check(Fenix_Data_commit_barrier(GROUP, FENIX_TIME_STAMP_IGNORE));
  }
  if (rank == 0) printf("sum after %d steps: %ld\n", STEPS, state[1]);
  check(Fenix_Finalize());
  MPI_Finalize();
  return EXIT_SUCCESS;
}
