/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The rules of SCR's manual for each function, where files are in their own places: what each call promises, on all ranks alike. One run
 * on an empty prefix folder, which is the working folder.
 */
#define _POSIX_C_SOURCE 200809L
#include <scr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank;
static int ranks;
static char path[SCR_MAX_FILENAME];
static char name[SCR_MAX_FILENAME];
static int flag;

static void require(int holds, const char* why) {
  if (holds) return;
  printf("FENIX-TEST-FAIL rank %d: %s\n", rank, why);
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

#define GOOD(call) require((call) == SCR_SUCCESS, #call)
#define BAD(call) require((call) == SCR_FAILURE, "not refused: " #call)

static void name_of(char* to, const char* dataset, int owner) {
  snprintf(to, SCR_MAX_FILENAME, "%s/deep/%s.%d", dataset, dataset, owner);
}

static void write_file(const char* to, int value) {
  FILE* const file = fopen(to, "w");
  require(file != NULL && fprintf(file, "%d\n", value) > 0 && fclose(file) == 0, "a file cannot be written");
}

static int value_of(const char* from) {
  int value = -1;
  FILE* const file = fopen(from, "r");
  if (file == NULL) return -1;
  if (fscanf(file, "%d", &value) != 1) value = -1;
  fclose(file);
  return value;
}

/* Rank 0 has no file: it takes part in each call all the same. */
static void write_dataset(const char* dataset, int flags, int value, int valid) {
  GOOD(SCR_Start_output(dataset, flags));
  if (rank != 0) {
    char own[SCR_MAX_FILENAME];
    char again[SCR_MAX_FILENAME];
    name_of(own, dataset, rank);
    GOOD(SCR_Route_file(own, path));
    GOOD(SCR_Route_file(own, again));
    require(strcmp(path, again) == 0, "a second path for one file");
    write_file(path, value + rank);
    require(value_of(own) == value + rank, "the file is not where the program asked for it");
  }
  const int code = SCR_Complete_output(valid || rank != ranks - 1);
  require(code == (valid ? SCR_SUCCESS : SCR_FAILURE), "the code of SCR_Complete_output");
}

static void expect_restart(const char* dataset, int value) {
  GOOD(SCR_Have_restart(&flag, name));
  require(flag == 1 && strcmp(name, dataset) == 0, "SCR_Have_restart has another checkpoint");
  GOOD(SCR_Have_restart(&flag, NULL));
  require(flag == 1, "SCR_Have_restart once more");
  name[0] = 0;
  GOOD(SCR_Start_restart(name));
  require(strcmp(name, dataset) == 0, "SCR_Start_restart has another name");
  if (rank != 0) {
    char own[SCR_MAX_FILENAME];
    name_of(own, dataset, rank);
    GOOD(SCR_Route_file(own, path));
    require(value_of(path) == value + rank, "the value of a file");
    /* The name alone is enough, and a path from the root is as good. */
    GOOD(SCR_Route_file(strrchr(own, '/') + 1, path));
    require(value_of(path) == value + rank, "a file by its name alone");
    char cwd[SCR_MAX_FILENAME / 2];
    require(getcwd(cwd, sizeof cwd) != NULL, "getcwd");
    char absolute[SCR_MAX_FILENAME * 2];
    snprintf(absolute, sizeof absolute, "%s/%s", cwd, own);
    GOOD(SCR_Route_file(absolute, path));
    require(value_of(path) == value + rank, "a file by its absolute path");
  }
  /* Files of others may be read. */
  name_of(name, dataset, ranks - 1);
  GOOD(SCR_Route_file(name, path));
  require(value_of(path) == value + ranks - 1, "a file of another rank");
  BAD(SCR_Route_file("none", path));
}

static void restart_and_refuse(void) {
  expect_restart("b", 200);
  /* One rank cannot use it: all are told, and the next older one is there. */
  require(SCR_Complete_restart(rank != 1) == SCR_FAILURE, "a refusal of rank 1");
  expect_restart("a", 100);
  GOOD(SCR_Complete_restart(1));
}

static void manage_datasets(void) {
  /* Others than those that are there have no effect. */
  GOOD(SCR_Current("none"));
  GOOD(SCR_Drop("none"));
  GOOD(SCR_Delete("none"));
  /* A dropped dataset keeps its files. */
  GOOD(SCR_Drop("output"));
  char own[SCR_MAX_FILENAME];
  name_of(own, "output", 1);
  require(value_of(own) == 301, "a file of a dropped dataset");
  GOOD(SCR_Delete("output"));
  require(value_of(own) == 301, "a file of a dataset that is not known any more");
  /* A deleted one loses them, and the folders that are empty then. */
  name_of(own, "b", 1);
  require(value_of(own) == 201, "a file before its dataset is deleted");
  MPI_Barrier(MPI_COMM_WORLD);
  GOOD(SCR_Delete("b"));
  require(access("b", F_OK) != 0, "a folder of a deleted dataset");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  require(strcmp(SCR_Get_version(), SCR_VERSION) == 0, "the version");
  require(SCR_Config("SCR_CHECKPOINT_INTERVAL=3") == NULL, "SCR_Config");
  require(SCR_Configf("SCR_CACHE_SIZE = %d", 2) == NULL, "SCR_Configf");
  GOOD(SCR_Init());
  const char* const value = SCR_Config("SCR_CACHE_SIZE");
  require(value != NULL && strcmp(value, "2") == 0, "the value of a parameter after SCR_Init");
  free((void*)value);
  GOOD(SCR_Have_restart(&flag, name));
  require(flag == 0, "a checkpoint in an empty folder");
  for (int call = 1; call <= 6; ++call) {
    GOOD(SCR_Need_checkpoint(&flag));
    require(flag == (call % 3 == 0), "SCR_Need_checkpoint by calls");
    if (flag == 1) write_dataset("a", SCR_FLAG_CHECKPOINT, 100, 1);
  }
  GOOD(SCR_Should_exit(&flag));
  require(flag == 0, "SCR_Should_exit without a reason");
  write_dataset("b", SCR_FLAG_CHECKPOINT | SCR_FLAG_OUTPUT, 200, 1);
  write_dataset("output", SCR_FLAG_OUTPUT, 300, 1);
  write_dataset("neither", SCR_FLAG_NONE, 400, 1);
  write_dataset("bad", SCR_FLAG_CHECKPOINT, 500, 0);
  GOOD(SCR_Finalize());
  GOOD(SCR_Init());
  restart_and_refuse();
  /* SCR_Current chooses for this job, whatever was wrong with it. */
  GOOD(SCR_Current("b"));
  expect_restart("b", 200);
  GOOD(SCR_Complete_restart(1));
  manage_datasets();
  GOOD(SCR_Start_checkpoint());
  GOOD(SCR_Complete_checkpoint(1));
  GOOD(SCR_Have_restart(&flag, name));
  require(flag == 1 && strncmp(name, "scr.dataset.", 12) == 0, "the checkpoint without a name");
  GOOD(SCR_Finalize());
  printf("FENIX-TEST-OK\n");
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
