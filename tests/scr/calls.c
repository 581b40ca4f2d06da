/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program for SCR that makes the calls of its arguments, one after the other: CALL or CALL:VALUE. Rank 0 prints what each has said. A
 * dataset NAME has a file NAME/file.RANK of each rank, with its name; NAME=FOLDER has it in another folder.
 */
#define _POSIX_C_SOURCE 200809L
#include <scr.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { kBytesOfBig = 200000 };

static int rank;

static void require(int holds, const char* why) {
  if (holds) return;
  printf("FENIX-TEST-FAIL rank %d: %s\n", rank, why);
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void say(const char* what, const char* name) {
  if (rank == 0) printf("%s %s\n", what, name);
  fflush(stdout);
}

static void wait_a_little(void) {
  const struct timespec time = {0, 20 * 1000000L};
  nanosleep(&time, NULL);
}

/* Writes a dataset; with no name a checkpoint that SCR gives one. */
static void write_dataset(const char* value, int flags, int bytes) {
  char path[2 * SCR_MAX_FILENAME];
  char name[SCR_MAX_FILENAME];
  snprintf(name, sizeof name, "%s", value);
  char* const folder = strchr(name, '=');
  if (folder != NULL) *folder = 0;
  require((*name != 0 ? SCR_Start_output(name, flags) : SCR_Start_checkpoint()) == SCR_SUCCESS,
          "the start of a dataset");
  snprintf(path, sizeof path, "%s/file.%d", folder != NULL ? folder + 1 : *name != 0 ? name : "unnamed", rank);
  require(SCR_Route_file(path, path) == SCR_SUCCESS, "SCR_Route_file");
  FILE* const file = fopen(path, "w");
  require(file != NULL && fprintf(file, "%s%*s", name, bytes, "") >= 0 && fclose(file) == 0,
          "a file cannot be written");
  const int code = *name != 0 ? SCR_Complete_output(1) : SCR_Complete_checkpoint(1);
  say(code == SCR_SUCCESS ? "wrote" : "failed", name);
}

/* Prints the checkpoint to go on from. */
static int have(char* name) {
  int flag = -1;
  require(SCR_Have_restart(&flag, name) == SCR_SUCCESS, "SCR_Have_restart");
  say("have", flag == 1 ? name : "none");
  return flag;
}

static void restart(int is_valid) {
  char name[SCR_MAX_FILENAME] = "";
  char path[SCR_MAX_FILENAME];
  char found[SCR_MAX_FILENAME] = "";
  if (have(name) == 0) return;
  require(SCR_Start_restart(name) == SCR_SUCCESS, "SCR_Start_restart");
  snprintf(path, sizeof path, "file.%d", rank);
  if (strncmp(name, "scr.dataset.", 12) != 0) {
    require(SCR_Route_file(path, path) == SCR_SUCCESS, "SCR_Route_file in a restart");
    FILE* const file = fopen(path, "r");
    require(file != NULL && fscanf(file, "%1000s", found) == 1 && strcmp(found, name) == 0, "the bytes of a file");
    fclose(file);
  }
  require(SCR_Complete_restart(is_valid) == (is_valid ? SCR_SUCCESS : SCR_FAILURE), "SCR_Complete_restart");
}

/* Kills all ranks, once: the file says that it was done. */
static void die_once(const char* mark) {
  const int is_done = access(mark, F_OK) == 0;
  MPI_Barrier(MPI_COMM_WORLD);
  if (is_done) return;
  if (rank == 0) fclose(fopen(mark, "w"));
  MPI_Barrier(MPI_COMM_WORLD);
  raise(SIGKILL);
}

static void wait_for(const char* file) {
  for (int i = 0; i < 1000 && access(file, F_OK) != 0; ++i) wait_a_little();
  MPI_Barrier(MPI_COMM_WORLD);
}

static void write_checkpoint(const char* name) { write_dataset(name, SCR_FLAG_CHECKPOINT, 0); }
static void write_big(const char* name) { write_dataset(name, SCR_FLAG_CHECKPOINT, kBytesOfBig); }
static void write_output(const char* name) { write_dataset(name, SCR_FLAG_OUTPUT, 0); }
static void write_both(const char* name) { write_dataset(name, SCR_FLAG_CHECKPOINT | SCR_FLAG_OUTPUT, 0); }
static void take(const char* unused) { (void)unused, restart(1); }
static void refuse(const char* unused) { (void)unused, restart(0); }
static void choose(const char* name) { require(SCR_Current(name) == SCR_SUCCESS, "SCR_Current"); }
static void delete (const char* name) { require(SCR_Delete(name) == SCR_SUCCESS, "SCR_Delete"); }
static void drop(const char* name) { require(SCR_Drop(name) == SCR_SUCCESS, "SCR_Drop"); }

static void ask_for_need(const char* unused) {
  int flag = -1;
  (void)unused;
  require(SCR_Need_checkpoint(&flag) == SCR_SUCCESS, "SCR_Need_checkpoint");
  say("need", flag == 1 ? "1" : "0");
}

static void look(const char* unused) {
  char name[SCR_MAX_FILENAME] = "";
  (void)unused;
  (void)have(name);
}

static void try_to_look(const char* unused) {
  char name[SCR_MAX_FILENAME] = "";
  int flag = -1;
  (void)unused;
  say("have", SCR_Have_restart(&flag, name) != SCR_SUCCESS ? "unknown" : flag == 1 ? name : "none");
}

static void try_to_drop(const char* name) { say(SCR_Drop(name) == SCR_SUCCESS ? "dropped" : "failed", name); }
static void try_to_choose(const char* name) { say(SCR_Current(name) == SCR_SUCCESS ? "chosen" : "failed", name); }

static void call(const char* what, const char* value) {
  static const struct {
    const char* name;
    void (*act)(const char*);
  } calls[] = {{"checkpoint", write_checkpoint},
               {"big", write_big},
               {"both", write_both},
               {"output", write_output},
               {"have", look},
               {"need", ask_for_need},
               {"restart", take},
               {"refuse", refuse},
               {"wait", wait_for},
               {"die-once", die_once},
               {"current", choose},
               {"delete", delete},
               {"drop", drop},
               {"try-have", try_to_look},
               {"try-drop", try_to_drop},
               {"try-current", try_to_choose}};
  for (size_t i = 0; i < sizeof calls / sizeof *calls; ++i) {
    if (strcmp(what, calls[i].name) != 0) continue;
    calls[i].act(value);
    return;
  }
  require(0, "there is no such call");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  require(SCR_Init() == SCR_SUCCESS, "SCR_Init");
  for (int i = 1; i < argc; ++i) {
    char* const value = strchr(argv[i], ':');
    if (value != NULL) *value = 0;
    call(argv[i], value != NULL ? value + 1 : "");
  }
  require(SCR_Finalize() == SCR_SUCCESS, "SCR_Finalize");
  printf("FENIX-TEST-OK\n");
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
