/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program that repairs itself: rank 1 dies in step 5, the last rank takes its place, and all go on from the checkpoint in memory.
 */
#define _POSIX_C_SOURCE 200809L
#include <scr.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static MPI_Comm comm = MPI_COMM_NULL;
static int rank;

static void require(int holds, const char* why) {
  if (holds) return;
  printf("FENIX-TEST-FAIL rank %d: %s\n", rank, why);
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void name_of_file(char* name) { snprintf(name, SCR_MAX_FILENAME, "value.%d", rank); }

/* Returns the value of the checkpoint, or -1 if there is none; -2 if a rank has died. */
static int restart(void) {
  int flag = -1;
  char name[SCR_MAX_FILENAME] = "";
  char path[SCR_MAX_FILENAME];
  if (SCR_Have_restart(&flag, name) != SCR_SUCCESS) return -2;
  if (flag == 0) return -1;
  name_of_file(path);
  if (SCR_Start_restart(NULL) != SCR_SUCCESS || SCR_Route_file(path, path) != SCR_SUCCESS) return -2;
  int step = -1;
  int owner = -1;
  FILE* const file = fopen(path, "r");
  require(file != NULL && fscanf(file, "%d %d", &step, &owner) == 2, "a value");
  fclose(file);
  require(owner == rank, "the value is that of another rank");
  char wanted[SCR_MAX_FILENAME];
  snprintf(wanted, sizeof wanted, "step %d", step);
  require(strcmp(name, wanted) == 0, "the name of the checkpoint");
  return SCR_Complete_restart(1) == SCR_SUCCESS ? step : -2;
}

static int write_checkpoint(int step) {
  char name[SCR_MAX_FILENAME];
  char path[SCR_MAX_FILENAME];
  snprintf(name, sizeof name, "step %d", step);
  name_of_file(path);
  if (SCR_Start_output(name, SCR_FLAG_CHECKPOINT) != SCR_SUCCESS || SCR_Route_file(path, path) != SCR_SUCCESS) return 0;
  FILE* const file = fopen(path, "w");
  require(file != NULL && fprintf(file, "%d %d\n", step, rank) > 0 && fclose(file) == 0, "a file");
  return SCR_Complete_output(1) == SCR_SUCCESS;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int world_rank = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  require(SCR_Init_comm(&comm) == SCR_SUCCESS, "SCR_Init_comm");
  int repairs = 0;
  int is_done = 0;
  while (!is_done) {
    require(++repairs < 4, "too many repairs");
    MPI_Comm_rank(comm, &rank);
    int step = restart();
    if (step == -2) continue;
    if (rank == 0) printf("from %d\n", step);
    fflush(stdout);
    int is_whole = 1;
    while (is_whole && ++step < 10) {
      if (step == 5 && world_rank == 1) raise(SIGKILL);
      is_whole = MPI_Barrier(comm) == MPI_SUCCESS && write_checkpoint(step);
    }
    is_done = is_whole;
  }
  require(SCR_Finalize() == SCR_SUCCESS, "SCR_Finalize");
  require(comm != MPI_COMM_NULL && MPI_Barrier(comm) == MPI_SUCCESS, "the communicator after SCR_Finalize");
  printf("FENIX-TEST-OK\n");
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
