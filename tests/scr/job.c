/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program for SCR, as its manual shows them: it goes on from a checkpoint if there is one, and then writes checkpoints and outputs, with
 * files of each rank. All bytes are known, so each of them is checked.
 *
 * Prints "from STEP of N ranks" when it begins, on rank 0, and "FENIX-TEST-OK" at the end, on each rank.
 */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <scr.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int rank;
static int ranks;

/* Options, by their names on the command line. */
static int steps = 6;
static int nap;             /* milliseconds of a step */
static int output;          /* each so many-th step is an output as well */
static int only_output;     /* 1: outputs are no checkpoints */
static int idle = -1;       /* a rank without files */
static int refuses;         /* so many checkpoints are refused by rank 1, in the restart */
static int invalid = -1;    /* a step whose checkpoint rank 1 cannot write */
static int plain;           /* 1: outputs are written by plain fwrite, too */
static int kilobytes = 3;   /* of a file */
static int shared;          /* 1: all ranks write one file as well */
static int fails = -1;      /* a step whose completion fails; -1: none, 1000: all */
static int unnamed;         /* 1: SCR_Start_checkpoint */
static int from = -2;       /* the step with which it must begin; -1: anew */
static int always = -1;     /* steps before this one have a checkpoint, whatever SCR_Need_checkpoint says */
static int asks = 1;        /* 0: SCR_Should_exit is not called */
static int dies = -1;       /* a step in which rank 1 dies */
static int hangs = -1;      /* a step in whose checkpoint it waits for its end */
static const char* first;   /* checkpoint for SCR_Current, before SCR_Have_restart */
static const char* current; /* checkpoints for SCR_Current, SCR_Delete, SCR_Drop, before the end */
static const char* deleted;
static const char* dropped;

static void fail(const char* why) {
  printf("FENIX-TEST-FAIL rank %d: %s\n", rank, why);
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void require(int holds, const char* why) {
  if (!holds) fail(why);
}

static void success(int code, const char* call) { require(code == SCR_SUCCESS, call); }

static unsigned char byte_of(int step, int part, long at) {
  return (unsigned char)((at * 31 + step * 7 + rank * 13 + part * 101 + (at >> 8)) & 255);
}

/* Sizes differ between ranks and steps; one part of each rank is empty. */
static long bytes_of(int step, int part) { return part == 2 ? 0 : kilobytes * 1000L + rank * 17L + step * 3L + part; }

static int parts(void) { return rank == idle ? 0 : 3; }

/* Two files have the same last part. */
static void name_of(char* name, const char* what, int step, int part) {
  static const char* const parts_of_name[] = {"a/state", "b/state", "empty"};
  snprintf(name, SCR_MAX_FILENAME, "%s.%d/rank_%d/%s", what, step, rank, parts_of_name[part]);
}

static int write_file(const char* path, int step, int part) {
  FILE* const file = fopen(path, "wb");
  if (file == NULL) return 0;
  int good = 1;
  for (long i = 0; i < bytes_of(step, part); ++i) good = good && fputc(byte_of(step, part, i), file) != EOF;
  return fclose(file) == 0 && good;
}

static int check_file(const char* path, int step, int part) {
  FILE* const file = fopen(path, "rb");
  if (file == NULL) return 0;
  int good = 1;
  for (long i = 0; i < bytes_of(step, part); ++i) good = good && fgetc(file) == byte_of(step, part, i);
  good = good && fgetc(file) == EOF;
  fclose(file);
  return good;
}

static void doze(int milliseconds) {
  const struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
  nanosleep(&time, NULL);
}

/* A piece of each rank, one after the other. */
static void name_of_shared(char* name, int step) { snprintf(name, SCR_MAX_FILENAME, "ckpt.%d/all", step); }

static int write_shared(int step) {
  char path[SCR_MAX_FILENAME];
  name_of_shared(path, step);
  success(SCR_Route_file(path, path), "SCR_Route_file of a file of all ranks");
  const int file = open(path, O_WRONLY | O_CREAT, 0600);
  unsigned char piece[1000];
  for (int i = 0; i < 1000; ++i) piece[i] = byte_of(step, 3, i);
  const int good = file >= 0 && pwrite(file, piece, sizeof piece, rank * 1000L) == (ssize_t)sizeof piece;
  return close(file) == 0 && good;
}

/* Each rank reads the pieces of all. */
static int check_shared(int step) {
  char path[SCR_MAX_FILENAME];
  name_of_shared(path, step);
  success(SCR_Route_file(path, path), "SCR_Route_file of a file of all ranks, in a restart");
  FILE* const file = fopen(path, "rb");
  int good = file != NULL;
  const int own = rank;
  for (rank = 0; rank < ranks; ++rank) {
    for (int i = 0; i < 1000; ++i) good = good && fgetc(file) == byte_of(step, 3, i);
  }
  rank = own;
  good = good && fgetc(file) == EOF;
  if (file != NULL) fclose(file);
  return good;
}

/* Returns the step of the checkpoint from which the program goes on, or -1. */
static int restart(void) {
  for (int tries = 0;; ++tries) {
    int flag = -1;
    char name[SCR_MAX_FILENAME] = "";
    success(SCR_Have_restart(&flag, name), "SCR_Have_restart");
    if (flag == 0) return -1;
    char again[SCR_MAX_FILENAME] = "";
    success(SCR_Start_restart(again), "SCR_Start_restart");
    require(strcmp(name, again) == 0, "SCR_Start_restart has another name than SCR_Have_restart");
    int step = -1;
    require(sscanf(name, unnamed ? "scr.dataset.%d" : "ckpt.%d", &step) == 1, "the name is another one");
    if (unnamed) --step;
    int valid = 1;
    for (int part = 0; part < parts(); ++part) {
      char wanted[SCR_MAX_FILENAME];
      char path[SCR_MAX_FILENAME];
      name_of(wanted, "ckpt", step, part);
      success(SCR_Route_file(wanted, path), "SCR_Route_file in a restart");
      valid = valid && check_file(path, step, part);
    }
    valid = valid && (!shared || check_shared(step));
    require(valid, "bytes of a checkpoint are wrong");
    char path[SCR_MAX_FILENAME];
    require(SCR_Route_file("ckpt.0/none", path) == SCR_FAILURE, "a file that is not there");
    if (parts() > 0) success(SCR_Route_file("empty", path), "a file by its last part");
    const int refused = tries < refuses;
    if (SCR_Complete_restart(!(refused && rank == 1)) == SCR_SUCCESS) {
      require(!refused, "a refusal of rank 1 was not noticed");
      return step;
    }
    require(refused, "SCR_Complete_restart");
  }
}

static void write_checkpoint(int step) {
  const int is_output = output > 0 && (step + 1) % output == 0;
  const int flags =
      (is_output ? SCR_FLAG_OUTPUT : SCR_FLAG_NONE) | (is_output && only_output ? 0 : SCR_FLAG_CHECKPOINT);
  char name[SCR_MAX_FILENAME];
  snprintf(name, sizeof name, "ckpt.%d", step);
  success(unnamed ? SCR_Start_checkpoint() : SCR_Start_output(name, flags), "start");
  int valid = !(step == invalid && rank == 1);
  for (int part = 0; part < parts(); ++part) {
    char wanted[SCR_MAX_FILENAME];
    char path[SCR_MAX_FILENAME];
    char again[SCR_MAX_FILENAME];
    name_of(wanted, "ckpt", step, part);
    success(SCR_Route_file(wanted, path), "SCR_Route_file");
    success(SCR_Route_file(wanted, again), "SCR_Route_file once more");
    require(strcmp(path, again) == 0 && strcmp(path, wanted) != 0, "the path of SCR_Route_file");
    valid = write_file(path, step, part) && valid;
    if (is_output && plain) {
      name_of(path, "plain", step, part);
      for (char* at = strchr(path, '/'); at != NULL; at = strchr(at + 1, '/')) {
        *at = 0;
        mkdir(path, 0700);
        *at = '/';
      }
      require(write_file(path, step, part), "plain fwrite");
    }
  }
  if (shared) valid = write_shared(step) && valid;
  while (step == hangs) {
    printf("hangs\n");
    fflush(stdout);
    doze(100);
  }
  const int code = unnamed ? SCR_Complete_checkpoint(valid) : SCR_Complete_output(valid);
  require(code == (step == invalid || step == fails || fails == 1000 ? SCR_FAILURE : SCR_SUCCESS), "completion");
}

static void read_options(int argc, char** argv) {
  const struct {
    const char* name;
    int* value;
  } numbers[] = {
      {"--steps", &steps}, {"--nap", &nap},       {"--output", &output},       {"--only-output", &only_output},
      {"--idle", &idle},   {"--from", &from},     {"--refuses", &refuses},     {"--invalid", &invalid},
      {"--plain", &plain}, {"--hangs", &hangs},   {"--kilobytes", &kilobytes}, {"--unnamed", &unnamed},
      {"--dies", &dies},   {"--shared", &shared}, {"--always", &always},       {"--fails", &fails},
      {"--asks", &asks}};
  const struct {
    const char* name;
    const char** value;
  } texts[] = {{"--first", &first}, {"--current", &current}, {"--delete", &deleted}, {"--drop", &dropped}};
  for (int i = 1; i + 1 < argc; i += 2) {
    for (size_t j = 0; j < sizeof numbers / sizeof *numbers; ++j) {
      if (strcmp(argv[i], numbers[j].name) == 0) *numbers[j].value = atoi(argv[i + 1]);
    }
    for (size_t j = 0; j < sizeof texts / sizeof *texts; ++j) {
      if (strcmp(argv[i], texts[j].name) == 0) *texts[j].value = argv[i + 1];
    }
  }
}

int main(int argc, char** argv) {
  read_options(argc, argv);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  success(SCR_Init(), "SCR_Init");
  if (first != NULL) success(SCR_Current(first), "SCR_Current before SCR_Have_restart");
  int step = restart();
  if (rank == 0) printf("from %d of %d ranks\n", step, ranks);
  fflush(stdout);
  require(from == -2 || from == step, "it does not begin with the step that was expected");
  int checkpoints = 0;
  int is_told = 0;
  while (!is_told && ++step < steps) {
    if (step == dies && rank == 1) raise(SIGKILL);
    if (nap > 0) doze(nap);
    int flag = -1;
    success(SCR_Need_checkpoint(&flag), "SCR_Need_checkpoint");
    if (flag == 0 && step >= always) continue;
    write_checkpoint(step);
    ++checkpoints;
    if (rank == 0) printf("step %d\n", step);
    fflush(stdout);
    if (asks) success(SCR_Should_exit(&is_told), "SCR_Should_exit");
  }
  if (rank == 0) printf("%d checkpoints%s\n", checkpoints, is_told ? ", told to end" : "");
  if (current != NULL) success(SCR_Current(current), "SCR_Current");
  if (deleted != NULL) success(SCR_Delete(deleted), "SCR_Delete");
  if (dropped != NULL) success(SCR_Drop(dropped), "SCR_Drop");
  require(SCR_Delete("none") == SCR_SUCCESS && SCR_Drop("none") == SCR_SUCCESS && SCR_Current("none") == SCR_SUCCESS,
          "a dataset that is not there");
  success(SCR_Finalize(), "SCR_Finalize");
  printf("FENIX-TEST-OK\n");
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
