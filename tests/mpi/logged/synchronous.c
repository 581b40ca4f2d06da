/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rank 0 sends to rank 1 by a synchronous send, which must not end before its receive begins, whoever dies.
 *
 *   synchronous blocking|begun|persistent|several nobody|receiver|sender|other|both|bystander
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MESSAGES = 3, SEVERAL = 20 };

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Sends a message, or several of the same. Returns when the first one has ended. */
static double send_it(const char* form, int* value, int tag) {
  MPI_Request request, requests[SEVERAL];
  int i;
  if (strcmp(form, "several") == 0) {
    for (i = 0; i < SEVERAL; ++i) MPI_Issend(value, 1, MPI_INT, 1, tag, MPI_COMM_WORLD, &requests[i]);
    MPI_Waitany(SEVERAL, requests, &i, MPI_STATUS_IGNORE);
    const double first = now();
    MPI_Waitall(SEVERAL, requests, MPI_STATUSES_IGNORE);
    return first;
  }
  if (strcmp(form, "blocking") == 0) {
    MPI_Ssend(value, 1, MPI_INT, 1, tag, MPI_COMM_WORLD);
    return now();
  }
  if (strcmp(form, "begun") == 0) {
    MPI_Issend(value, 1, MPI_INT, 1, tag, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return now();
  }
  MPI_Ssend_init(value, 1, MPI_INT, 1, tag, MPI_COMM_WORLD, &request);
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
  return now();
}

/* Looks for a message that never comes: so this rank is the first one that hears of a death. */
static void look_for_none(double seconds) {
  const double end = now() + seconds;
  int found;
  while (now() < end) MPI_Iprobe(MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
}

/* Kills this process in so many milliseconds. */
static void die_in(int milliseconds) {
  struct sigevent event;
  struct itimerspec once;
  timer_t timer;
  memset(&event, 0, sizeof(event));
  memset(&once, 0, sizeof(once));
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGKILL;
  once.it_value.tv_sec = milliseconds / 1000;
  once.it_value.tv_nsec = milliseconds % 1000 * 1000000L + 1;
  timer_create(CLOCK_MONOTONIC, &event, &timer);
  timer_settime(timer, 0, &once, NULL);
}

int main(int argc, char** argv) {
  const char* const form = argc > 1 ? argv[1] : "";
  const char* const victim = argc > 2 ? argv[2] : "nobody";
  int rank, value, i, j, is_well = 1;
  double begins[MESSAGES] = {0}, ends[MESSAGES] = {0};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int is_first = atoi(getenv("PMIX_RANK")) == rank;
  const int both = strcmp(victim, "both") == 0;
  /* The receiver dies before its second receive. The second victim dies while the sender waits for the successor. */
  const int receiver_dies = is_first && (both || strcmp(victim, "receiver") == 0 || strcmp(victim, "other") == 0);
  const int bystander_dies = strcmp(victim, "bystander") == 0;
  const int is_second =
      is_first && ((both && rank == 0) || ((strcmp(victim, "other") == 0 || bystander_dies) && rank == 2));
  const int messages = strcmp(form, "several") == 0 ? SEVERAL : 1;
  if (is_second) die_in(bystander_dies ? 700 : 1200);
  for (i = 0; i < MESSAGES; ++i) {
    if (rank == 0) {
      value = 4711 + i;
      ends[i] = send_it(form, &value, i % 2);
      if (i == 1 && is_first && strcmp(victim, "sender") == 0) raise(SIGKILL);
    }
    if (rank == 1) {
      usleep(i == 1 && !is_first ? 2000000 : 200000);
      if (i == 1 && receiver_dies) raise(SIGKILL);
      if (i == 1 && bystander_dies) look_for_none(1.5);
      begins[i] = now();
      for (j = 0; j < messages; ++j) {
        value = 0;
        MPI_Recv(&value, 1, MPI_INT, 0, i % 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        is_well = is_well && value == 4711 + i;
      }
    }
  }
  if (is_second) pause();
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) MPI_Send(begins, MESSAGES, MPI_DOUBLE, 0, 9, MPI_COMM_WORLD);
  if (rank == 0) MPI_Recv(begins, MESSAGES, MPI_DOUBLE, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  /* The first one was received before anybody died. */
  for (i = 1; rank == 0 && i < MESSAGES; ++i) {
    if (ends[i] >= begins[i]) continue;
    printf("send %d ended %.3f s before its receive\n", i, begins[i] - ends[i]);
    is_well = 0;
  }
  if (is_well) printf("FENIX-TEST-OK rank %d\n", rank);
  MPI_Finalize();
  return 0;
}
