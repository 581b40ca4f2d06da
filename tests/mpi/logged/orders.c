/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program that knows nothing of Fenix. Rank 0 gets messages of all others in whatever order they come, and tells everyone the order so
 * far after each one. At the end all ranks compare what they were told with the whole order: there must be one only.
 *
 *   orders MODE [ROUNDS]
 */
#define _DEFAULT_SOURCE

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PER_ROUND = 2, MOST = 30000, TOLD = 9, ORDER = 10, NEVER_SENT = 77, RANKS = 64, AHEAD = 4, BEHIND = 11 };

typedef struct {
  int source, tag, number;
  int in_vain; /* looks that have found nothing */
} Event;

static const char* mode;
static MPI_Comm comm;
static int rank, size;

static void fail(const char* what, int a, int b) {
  printf("FENIX-TEST-FAIL rank %d, %s: %s: %d and %d\n", rank, mode, what, a, b);
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static int is(const char* name) { return strcmp(mode, name) == 0; }

/* Some messages are too long to be sent before there is a receive. */
static int length_of(int number) { return number % 5 == 3 ? MOST : 4; }
static int tag_of(int number) { return 1 + number % 3; }

static void fill(int* message, int sender, int number) {
  for (int i = 0; i < length_of(number); ++i) message[i] = sender * 1000003 + number * 101 + i;
  message[0] = number;
}

static unsigned long mix(unsigned long hash, Event event) {
  hash = (hash * 1000003 + (unsigned)event.source) * 1000003 + (unsigned)event.tag;
  return (hash * 1000003 + (unsigned)event.number) * 1000003 + (unsigned)event.in_vain;
}

/* Returns the message as an event, and looks at its bytes. */
static Event event_of(const int* message, MPI_Status status, int in_vain) {
  static int wanted[MOST];
  Event event = {status.MPI_SOURCE, status.MPI_TAG, message[0], in_vain};
  int count = 0;
  MPI_Get_count(&status, MPI_INT, &count);
  if (event.number < 0 || count != length_of(event.number)) fail("length", event.number, count);
  if (event.tag != tag_of(event.number)) fail("tag", event.number, event.tag);
  fill(wanted, event.source, event.number);
  if (memcmp(message, wanted, sizeof(int) * (size_t)count) != 0) fail("bytes", event.source, event.number);
  return event;
}

static int buffers[RANKS][MOST];

static Event by_receive(void) {
  MPI_Status status;
  MPI_Recv(buffers[0], MOST, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
  return event_of(buffers[0], status, 0);
}

/* Two receives are always under way, except at the end. */
static Event by_two_receives(int left) {
  static MPI_Request requests[2];
  static int begun = 0, ended = 0;
  MPI_Status status;
  while (begun - ended < (left < 2 ? left : 2)) {
    MPI_Irecv(buffers[begun % 2], MOST, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, requests + begun % 2);
    ++begun;
  }
  MPI_Wait(requests + ended % 2, &status);
  return event_of(buffers[ended++ % 2], status, 0);
}

static Event by_probe(void) {
  MPI_Status status;
  int in_vain = -1, flag = 0, count = 0;
  if (is("probe")) {
    in_vain = 0;
    MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
  }
  for (; is("iprobe") && !flag; ++in_vain) MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  MPI_Recv(buffers[0], count, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, comm, &status);
  return event_of(buffers[0], status, in_vain);
}

static Event by_matched_probe(void) {
  MPI_Message message;
  MPI_Request request;
  MPI_Status status;
  int in_vain = -1, flag = 0, count = 0;
  if (is("mprobe")) {
    MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &message, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    MPI_Mrecv(buffers[0], count, MPI_INT, &message, &status);
    return event_of(buffers[0], status, 0);
  }
  for (; !flag; ++in_vain) MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, &message, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  MPI_Imrecv(buffers[0], count, MPI_INT, &message, &request);
  MPI_Wait(&request, &status);
  return event_of(buffers[0], status, in_vain);
}

static Event by_test(void) {
  MPI_Request request;
  MPI_Status status;
  int in_vain = -1, flag = 0;
  MPI_Irecv(buffers[0], MOST, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &request);
  for (; !flag; ++in_vain) {
    if (is("get_status")) MPI_Request_get_status(request, &flag, &status);
    if (is("test")) MPI_Test(&request, &flag, &status);
    if (is("testall")) MPI_Testall(1, &request, &flag, &status);
  }
  if (is("get_status")) MPI_Wait(&request, &status);
  return event_of(buffers[0], status, in_vain);
}

/* A persistent receive. */
static Event by_start(void) {
  static MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  if (request == MPI_REQUEST_NULL) {
    MPI_Recv_init(buffers[0], MOST, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &request);
  }
  MPI_Start(&request);
  MPI_Wait(&request, &status);
  return event_of(buffers[0], status, 0);
}

/* One receive for each source, and the others behind it. */
static Event by_some(void) {
  static MPI_Request requests[RANKS];
  static MPI_Status statuses[RANKS];
  static int indices[RANKS], have = 0, next = 0, begun = 0, in_vain = 0;
  for (int i = 1; i < size && !begun; ++i) {
    MPI_Irecv(buffers[i], MOST, MPI_INT, i, MPI_ANY_TAG, comm, requests + i - 1);
  }
  begun = 1;
  if (next == have) {
    next = have = in_vain = 0;
    for (int flag = 0; have == 0; in_vain += have == 0) {
      if (is("waitsome")) MPI_Waitsome(size - 1, requests, &have, indices, statuses);
      if (is("testsome")) MPI_Testsome(size - 1, requests, &have, indices, statuses);
      if (is("waitany")) {
        MPI_Waitany(size - 1, requests, indices, statuses);
        have = 1;
      }
      if (is("testany")) {
        MPI_Testany(size - 1, requests, indices, &flag, statuses);
        have = flag;
      }
    }
  }
  const int i = indices[next] + 1;
  const Event event = event_of(buffers[i], statuses[next++], in_vain);
  static int got[RANKS];
  const int rounds = atoi(getenv("ROUNDS"));
  if (++got[i] < rounds * PER_ROUND) MPI_Irecv(buffers[i], MOST, MPI_INT, i, MPI_ANY_TAG, comm, requests + i - 1);
  return event;
}

/* All receives of a round are under way at once, and each of them could get each message. */
static Event by_turns(int left) {
  static Event found[RANKS * PER_ROUND];
  static int have = 0, next = 0;
  MPI_Request requests[2 * RANKS];
  MPI_Status statuses[2 * RANKS];
  static int more[RANKS][MOST];
  if (next == have && left >= (size - 1) * PER_ROUND) {
    /* As many as there are messages of a round. */
    int n = 0;
    for (int i = 1; i < size; ++i) {
      MPI_Irecv(buffers[i], MOST, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, requests + n++);
      MPI_Irecv(more[i], MOST, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, requests + n++);
    }
    MPI_Waitall(n, requests, statuses);
    next = have = 0;
    for (int i = 1; i < size; ++i) {
      found[have] = event_of(buffers[i], statuses[have], 0);
      ++have;
      found[have] = event_of(more[i], statuses[have], 0);
      ++have;
    }
  }
  return found[next++];
}

/* Receives that are cancelled if they have got nothing at once, and others that cannot get anything. */
static Event by_cancel(void) {
  static int unused[1];
  MPI_Request request, other;
  MPI_Status status;
  int flag = 0, was_cancelled = 0;
  MPI_Irecv(unused, 1, MPI_INT, MPI_ANY_SOURCE, NEVER_SENT, comm, &other);
  MPI_Irecv(buffers[0], MOST, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &request);
  MPI_Test(&request, &flag, &status);
  if (!flag) {
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &was_cancelled);
  }
  if (was_cancelled) {
    int probed = 0;
    MPI_Iprobe(1, 1, comm, &probed, MPI_STATUS_IGNORE);
    MPI_Irecv(buffers[1], MOST, MPI_INT, 1, NEVER_SENT, comm, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Recv(buffers[0], MOST, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
    was_cancelled += probed;
  }
  const Event event = event_of(buffers[0], status, was_cancelled);
  MPI_Cancel(&other);
  MPI_Wait(&other, &status);
  MPI_Test_cancelled(&status, &flag);
  if (!flag) fail("a receive of what was never sent", 0, 0);
  return event;
}

static Event next_event(int left) {
  if (is("two")) return by_two_receives(left);
  if (is("probe") || is("iprobe")) return by_probe();
  if (is("mprobe") || is("improbe")) return by_matched_probe();
  if (is("test") || is("testall") || is("get_status")) return by_test();
  if (is("start")) return by_start();
  if (is("waitany") || is("waitsome") || is("testany") || is("testsome")) return by_some();
  if (is("turns")) return by_turns(left);
  if (is("cancel")) return by_cancel();
  return by_receive();
}

/* A receive with a name that has begun after one with a wildcard gets the later message. Rank 1 sends when both have begun. */
static void lead_behind(void) {
  int first = 0, second = 0;
  MPI_Request requests[2];
  MPI_Irecv(&first, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, requests);
  MPI_Irecv(&second, 1, MPI_INT, 1, BEHIND, comm, requests + 1);
  MPI_Send(&first, 1, MPI_INT, 1, BEHIND, comm);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  if (first != 1 || second != 2) fail("receives have changed places", first, second);
}

static void follow_behind(void) {
  int value = 0;
  MPI_Recv(&value, 1, MPI_INT, 0, BEHIND, comm, MPI_STATUS_IGNORE);
  for (value = 1; value <= 2; ++value) MPI_Send(&value, 1, MPI_INT, 0, BEHIND, comm);
}

static void lead(int events) {
  Event* all = calloc((size_t)events, sizeof *all);
  int latest[RANKS];
  unsigned long hash = 1;
  memset(latest, -1, sizeof latest);
  for (int i = 0; i < events; ++i) {
    all[i] = next_event(events - i);
    /* Messages of a source come in their order, whatever their tags. */
    if (all[i].number != latest[all[i].source] + 1) fail("overtaken", all[i].number, latest[all[i].source]);
    latest[all[i].source] = all[i].number;
    hash = mix(hash, all[i]);
    for (int other = 1; other < size; ++other) MPI_Send(&hash, 1, MPI_UNSIGNED_LONG, other, TOLD, comm);
  }
  for (int other = 1; other < size; ++other) {
    MPI_Send(all, events * (int)sizeof *all, MPI_BYTE, other, ORDER, comm);
  }
  lead_behind();
  free(all);
}

static void follow(int events) {
  static int message[MOST];
  unsigned long* told = calloc((size_t)events, sizeof *told);
  Event* all = calloc((size_t)events, sizeof *all);
  /* Several receives of the same are under way when rank 0 dies: they must not change places. */
  MPI_Request ahead[AHEAD];
  int sent = 0, begun = 0;
  for (int i = 0; i < events; ++i) {
    for (; begun < events && begun < i + AHEAD; ++begun) {
      MPI_Irecv(told + begun, 1, MPI_UNSIGNED_LONG, 0, TOLD, comm, ahead + begun % AHEAD);
    }
    for (int k = 0; k < PER_ROUND && i % ((size - 1) * PER_ROUND) == 0; ++k) {
      usleep((useconds_t)(rank * 37 + i * 13) % 200);
      fill(message, rank, sent);
      MPI_Send(message, length_of(sent), MPI_INT, 0, tag_of(sent), comm);
      ++sent;
    }
    MPI_Wait(ahead + i % AHEAD, MPI_STATUS_IGNORE);
  }
  MPI_Recv(all, events * (int)sizeof *all, MPI_BYTE, 0, ORDER, comm, MPI_STATUS_IGNORE);
  unsigned long hash = 1;
  for (int i = 0; i < events; ++i) {
    hash = mix(hash, all[i]);
    if (hash != told[i]) fail("another order than was told before, at", i, all[i].source);
  }
  if (rank == 1) follow_behind();
  free(told);
  free(all);
}

int main(int argc, char** argv) {
  mode = argc > 1 ? argv[1] : "recv";
  setenv("ROUNDS", argc > 2 ? argv[2] : "6", 1);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  comm = MPI_COMM_WORLD;
  const int events = atoi(getenv("ROUNDS")) * (size - 1) * PER_ROUND;
  if (rank == 0) {
    lead(events);
  } else {
    follow(events);
  }
  printf("FENIX-TEST-OK rank %d, process %s\n", rank, getenv("PMIX_RANK"));
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
