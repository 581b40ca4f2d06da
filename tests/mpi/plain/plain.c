/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE

#include "plain.h"

#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

int rank, size;
int rounds = 4;
static int steps;
static timer_t death;
static int is_to_die;

void check_that(int holds, const char* file, int line, const char* text) {
  if (holds) return;
  printf("FENIX-TEST-FAIL rank %d, step %d, %s:%d: %s\n", rank, steps,
         strrchr(file, '/') ? strrchr(file, '/') + 1 : file, line, text);
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 3);
  exit(3);
}

/* Kills this process now, or after some time. */
static void die(long microseconds) {
  struct sigevent event;
  struct itimerspec time;
  if (microseconds <= 0) raise(SIGKILL);
  memset(&event, 0, sizeof(event));
  memset(&time, 0, sizeof(time));
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGKILL;
  time.it_value.tv_sec = microseconds / 1000000;
  time.it_value.tv_nsec = microseconds % 1000000 * 1000;
  is_to_die = timer_create(CLOCK_MONOTONIC, &event, &death) == 0 && timer_settime(death, 0, &time, NULL) == 0;
  if (!is_to_die) raise(SIGKILL);
}

/* Returns whether no process before this one has died by this entry of PLAIN_DIES. */
static int is_first(int entry) {
  const char* folder = getenv("PLAIN_MARKS");
  char name[4096];
  int file;
  if (folder == NULL) return 0;
  snprintf(name, sizeof(name), "%s/died.%d", folder, entry);
  file = open(name, O_CREAT | O_EXCL | O_WRONLY, 0600);
  if (file >= 0) close(file);
  return file >= 0;
}

void step(void) {
  const char* dies = getenv("PLAIN_DIES");
  int entry;
  ++steps;
  for (entry = 0; dies != NULL && *dies != '\0'; ++entry) {
    int victim = -1, at = 0;
    long microseconds = 0;
    sscanf(dies, "%d:%d:%ld", &victim, &at, &microseconds);
    if (victim == rank && at == steps && is_first(entry)) die(microseconds);
    dies = strchr(dies, ',');
    if (dies != NULL) ++dies;
  }
}

/* For Fortran. */
void plain_step_(void) { step(); }
void plain_well_(void) { say_well(); }
void plain_begin_(void) { begin(NULL, NULL); }

static unsigned char byte_of(int from, int number, size_t i) {
  unsigned long value =
      (unsigned long)(from + 1) * 2654435761UL + (unsigned long)number * 40503UL + (unsigned long)i * 97UL;
  return (unsigned char)(value ^ (value >> 11));
}

void fill(void* memory, size_t bytes, int from, int number) {
  size_t i;
  for (i = 0; i < bytes; ++i) ((unsigned char*)memory)[i] = byte_of(from, number, i);
}

void expect(const void* memory, size_t bytes, int from, int number) {
  size_t i;
  for (i = 0; i < bytes; ++i) {
    if (((const unsigned char*)memory)[i] == byte_of(from, number, i)) continue;
    printf("byte %zu of %zu from rank %d, number %d, is %u and not %u\n", i, bytes, from, number,
           ((const unsigned char*)memory)[i], byte_of(from, number, i));
    CHECK(!"the bytes are those that were sent");
  }
}

void begin(int* argc, char*** argv) {
  int is_initialized = 0;
  MPI_Initialized(&is_initialized);
  if (!is_initialized) MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
}

void say_well(void) {
  const char* process = getenv("PMIX_RANK");
  /* Deaths in MPI_Finalize are another matter. */
  if (is_to_die) timer_delete(death);
  printf("FENIX-TEST-OK rank %d of %d, %d steps, process %s\n", rank, size, steps, process ? process : "?");
  fflush(stdout);
}

static const struct Case* find(const struct Case* cases, size_t count, const char* name) {
  size_t i;
  for (i = 0; i < count; ++i) {
    if (strcmp(cases[i].name, name) == 0) return &cases[i];
  }
  return NULL;
}

int run_cases(int argc, char** argv, const struct Case* cases, size_t count) {
  int i, round;
  begin(&argc, &argv);
  for (i = 1; i + 1 < argc; ++i) {
    if (strcmp(argv[i], "--rounds") == 0) rounds = atoi(argv[i + 1]);
  }
  for (i = 1; i < argc; ++i) {
    const struct Case* chosen = find(cases, count, argv[i]);
    if (strcmp(argv[i], "--rounds") == 0) {
      ++i;
      continue;
    }
    CHECK(chosen != NULL);
    for (round = 0; round < rounds; ++round) {
      step();
      chosen->run(round);
    }
  }
  step();
  say_well();
  MPI_Finalize();
  return 0;
}
