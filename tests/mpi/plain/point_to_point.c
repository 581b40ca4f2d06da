/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages between two ranks, in all forms that MPI has. */
#include "plain.h"

enum { WORDS = 33, LARGE = 40000 };

static int right(void) { return (rank + 1) % size; }
static int left(void) { return (rank + size - 1) % size; }

typedef int Send(const void*, int, MPI_Datatype, int, int, MPI_Comm);
typedef int Isend(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

/* Gives the process a buffer for messages of MPI_Bsend. */
static void attach(int messages, int bytes) {
  const int all = messages * (bytes + MPI_BSEND_OVERHEAD);
  MPI_Buffer_attach(malloc((size_t)all), all);
}

static void detach(void) {
  void* buffer = NULL;
  int bytes = 0;
  MPI_Buffer_detach(&buffer, &bytes);
  CHECK(bytes > 0);
  free(buffer);
}

/* Each blocking mode, around the ring: odd ranks receive first. */
static void modes(int round) {
  static Send* const sends[] = {MPI_Send, MPI_Ssend, MPI_Bsend};
  int sent[WORDS], got[WORDS], mode, count;
  MPI_Status status;
  for (mode = 0; mode < (int)COUNT_OF(sends); ++mode) {
    attach(1, sizeof(sent));
    fill(sent, sizeof(sent), rank, 10 * round + mode);
    step();
    if (rank != 0) MPI_Recv(got, WORDS, MPI_INT, left(), mode, MPI_COMM_WORLD, &status);
    sends[mode](sent, WORDS, MPI_INT, right(), mode, MPI_COMM_WORLD);
    fill(sent, sizeof(sent), 77, 0);
    step();
    if (rank == 0) MPI_Recv(got, WORDS, MPI_INT, left(), mode, MPI_COMM_WORLD, &status);
    detach();
    expect(got, sizeof(got), left(), 10 * round + mode);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == WORDS && status.MPI_SOURCE == left() && status.MPI_TAG == mode);
  }
}

/* MPI_Rsend to a receive that is known to be there. */
static void ready(int round) {
  int sent[WORDS], got[WORDS], go = 0;
  MPI_Request request;
  fill(sent, sizeof(sent), rank, round);
  MPI_Irecv(got, WORDS, MPI_INT, left(), 4, MPI_COMM_WORLD, &request);
  MPI_Sendrecv(&round, 1, MPI_INT, left(), 5, &go, 1, MPI_INT, right(), 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  step();
  CHECK(go == round);
  MPI_Rsend(sent, WORDS, MPI_INT, right(), 4, MPI_COMM_WORLD);
  step();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect(got, sizeof(got), left(), round);
}

/* Each mode that does not block, with a small and a large message. */
static void nonblocking(int round) {
  static Isend* const sends[] = {MPI_Isend, MPI_Issend, MPI_Ibsend, MPI_Irsend};
  char* sent = malloc(4 * LARGE);
  char* got = malloc(4 * LARGE);
  int large, mode;
  for (large = 0; large < 2; ++large) {
    const int bytes = large ? LARGE : 12;
    MPI_Request requests[8];
    MPI_Status statuses[8];
    attach(1, bytes);
    for (mode = 0; mode < 4; ++mode)
      MPI_Irecv(got + mode * LARGE, bytes, MPI_BYTE, left(), mode, MPI_COMM_WORLD, &requests[mode]);
    MPI_Barrier(MPI_COMM_WORLD);
    step();
    for (mode = 0; mode < 4; ++mode) {
      fill(sent + mode * LARGE, (size_t)bytes, rank, 8 * round + mode);
      sends[mode](sent + mode * LARGE, bytes, MPI_BYTE, right(), mode, MPI_COMM_WORLD, &requests[4 + mode]);
    }
    step();
    MPI_Waitall(8, requests, statuses);
    for (mode = 0; mode < 4; ++mode) {
      CHECK(requests[mode] == MPI_REQUEST_NULL && statuses[mode].MPI_TAG == mode &&
            statuses[mode].MPI_SOURCE == left());
      expect(got + mode * LARGE, (size_t)bytes, left(), 8 * round + mode);
    }
    detach();
  }
  free(sent);
  free(got);
}

/* Persistent requests of all modes, started again and again. */
static void persistent(int round) {
  int sent[4][WORDS], got[4][WORDS], turn, mode;
  MPI_Request requests[8];
  attach(2, sizeof(sent[0]));
  for (mode = 0; mode < 4; ++mode)
    MPI_Recv_init(got[mode], WORDS, MPI_INT, left(), mode, MPI_COMM_WORLD, &requests[mode]);
  MPI_Send_init(sent[0], WORDS, MPI_INT, right(), 0, MPI_COMM_WORLD, &requests[4]);
  MPI_Ssend_init(sent[1], WORDS, MPI_INT, right(), 1, MPI_COMM_WORLD, &requests[5]);
  MPI_Bsend_init(sent[2], WORDS, MPI_INT, right(), 2, MPI_COMM_WORLD, &requests[6]);
  MPI_Rsend_init(sent[3], WORDS, MPI_INT, right(), 3, MPI_COMM_WORLD, &requests[7]);
  for (turn = 0; turn < 3; ++turn) {
    for (mode = 0; mode < 4; ++mode) fill(sent[mode], sizeof(sent[mode]), rank, 100 * round + 10 * turn + mode);
    MPI_Startall(4, requests);
    MPI_Barrier(MPI_COMM_WORLD);
    step();
    MPI_Startall(3, requests + 4);
    MPI_Start(&requests[7]);
    step();
    MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
    for (mode = 0; mode < 4; ++mode) {
      CHECK(requests[mode] != MPI_REQUEST_NULL);
      expect(got[mode], sizeof(got[mode]), left(), 100 * round + 10 * turn + mode);
    }
  }
  for (mode = 0; mode < 8; ++mode) MPI_Request_free(&requests[mode]);
  detach();
}

/* Persistent receives that take what comes: rank 0 starts one for each message. */
static void persistent_wildcards(int round) {
  int value = -1, sent = 10 * rank + round, i, sum = 0, flag = 0;
  MPI_Request request;
  MPI_Status status;
  if (rank == 0) {
    MPI_Recv_init(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
    for (i = 0; i < 2 * (size - 1); ++i) {
      MPI_Start(&request);
      if (i % 2 == 0) step();
      if (i % 3 == 0) {
        MPI_Wait(&request, &status);
      } else {
        for (flag = 0; !flag;) MPI_Test(&request, &flag, &status);
      }
      CHECK(value == 10 * status.MPI_SOURCE + round + status.MPI_TAG);
      sum += value;
    }
    CHECK(sum == 10 * size * (size - 1) + (size - 1) * (2 * round + 1));
    MPI_Request_free(&request);
  } else {
    MPI_Send_init(&sent, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
    step();
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    ++sent;
    step();
    MPI_Send(&sent, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/* Exchanges in one call. */
static void sendrecv(int round) {
  int sent[WORDS], got[WORDS];
  MPI_Request request;
  MPI_Status status;
  fill(sent, sizeof(sent), rank, round);
  step();
  MPI_Sendrecv(sent, WORDS, MPI_INT, right(), 1, got, WORDS, MPI_INT, left(), 1, MPI_COMM_WORLD, &status);
  expect(got, sizeof(got), left(), round);
  CHECK(status.MPI_SOURCE == left());
  step();
  MPI_Sendrecv_replace(sent, WORDS, MPI_INT, right(), 2, left(), MPI_ANY_TAG, MPI_COMM_WORLD, &status);
  expect(sent, sizeof(sent), left(), round);
  CHECK(status.MPI_TAG == 2);
  step();
  MPI_Isendrecv(sent, WORDS, MPI_INT, left(), 3, got, WORDS, MPI_INT, right(), 3, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect(got, sizeof(got), rank, round);
  MPI_Isendrecv_replace(sent, WORDS, MPI_INT, left(), 4, right(), 4, MPI_COMM_WORLD, &request);
  step();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect(sent, sizeof(sent), rank, round);
  MPI_Sendrecv(sent, WORDS, MPI_INT, MPI_PROC_NULL, 1, got, WORDS, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status);
  CHECK(status.MPI_SOURCE == MPI_PROC_NULL);
}

/* Rank 0 receives from whoever comes first, and answers. */
static void wildcards(int round) {
  int got[2], left_over = rank == 0 ? 5 * (size - 1) : 0, turn;
  int* next = calloc((size_t)size, sizeof(int));
  MPI_Status status;
  for (turn = 0; turn < 5 && rank != 0; ++turn) {
    const int sent[2] = {rank, 1000 * round + turn};
    if (turn % 2 == 0) step();
    MPI_Send(sent, 2, MPI_INT, 0, turn, MPI_COMM_WORLD);
    MPI_Recv(got, 2, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    CHECK(got[0] == rank && got[1] == sent[1] + 7 && status.MPI_TAG == turn + 50);
  }
  for (; left_over > 0; --left_over) {
    MPI_Recv(got, 2, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    if (left_over % 2 == 0) step();
    CHECK(got[0] == status.MPI_SOURCE && status.MPI_TAG == next[got[0]] && got[1] == 1000 * round + next[got[0]]);
    ++next[got[0]];
    got[1] += 7;
    MPI_Send(got, 2, MPI_INT, status.MPI_SOURCE, status.MPI_TAG + 50, MPI_COMM_WORLD);
  }
  free(next);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* Messages whose length is asked for first. */
static void probes(int round) {
  const int from = left();
  char sent[300], got[300];
  int turn, count, found;
  MPI_Status status;
  for (turn = 0; turn < 4; ++turn) {
    const int length = (rank * 31 + turn * 67 + round) % 250;
    const int incoming = (from * 31 + turn * 67 + round) % 250;
    MPI_Request request;
    fill(sent, (size_t)length, rank, turn);
    MPI_Isend(sent, length, MPI_CHAR, right(), turn, MPI_COMM_WORLD, &request);
    step();
    if (turn % 2 == 0) {
      MPI_Probe(turn ? MPI_ANY_SOURCE : from, turn ? MPI_ANY_TAG : 0, MPI_COMM_WORLD, &status);
    } else {
      for (found = 0; !found;) MPI_Iprobe(MPI_ANY_SOURCE, turn, MPI_COMM_WORLD, &found, &status);
    }
    MPI_Get_count(&status, MPI_CHAR, &count);
    CHECK(count == incoming && status.MPI_SOURCE == from && status.MPI_TAG == turn);
    step();
    MPI_Recv(got, count, MPI_CHAR, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect(got, (size_t)incoming, from, turn);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
  CHECK(!found);
}

/* Many receives, each with a wildcard and a tag of its own, and one from a rank behind each of them. Their messages come in another order. */
static void many_patterns(int round) {
  enum { MANY = 150 };
  int got[2 * MANY], sent[2 * MANY], i;
  MPI_Request requests[4 * MANY];
  for (i = 0; i < MANY; ++i) {
    got[i] = got[MANY + i] = -1;
    MPI_Irecv(&got[i], 1, MPI_INT, MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &requests[i]);
    MPI_Irecv(&got[MANY + i], 1, MPI_INT, left(), i, MPI_COMM_WORLD, &requests[MANY + i]);
  }
  step();
  MPI_Barrier(MPI_COMM_WORLD);
  for (i = 0; i < 2 * MANY; ++i) {
    const int tag = (7 * i + rank) % MANY;
    sent[i] = 1000 * round + i;
    MPI_Isend(&sent[i], 1, MPI_INT, right(), tag, MPI_COMM_WORLD, &requests[2 * MANY + i]);
  }
  step();
  MPI_Waitall(4 * MANY, requests, MPI_STATUSES_IGNORE);
  for (i = 0; i < 2 * MANY; ++i) {
    const int tag = (7 * i + left()) % MANY;
    CHECK(got[i < MANY ? tag : MANY + tag] == 1000 * round + i);
  }
}

/* A receive with a wildcard is open when a later one finds its message at once. Others with its tag come behind it. */
static void found_at_once(int round) {
  int sent[4], got[4] = {-1, -1, -1, -1}, i, go = 0;
  MPI_Request requests[2];
  for (i = 0; i < 4; ++i) sent[i] = 1000 * round + 10 * rank + i;
  MPI_Send(&sent[2], 1, MPI_INT, right(), 2, MPI_COMM_WORLD);
  MPI_Send(&sent[3], 1, MPI_INT, right(), 3, MPI_COMM_WORLD);
  MPI_Recv(&got[3], 1, MPI_INT, left(), 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Irecv(&got[0], 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(&got[2], 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &requests[1]);
  step();
  MPI_Sendrecv(&round, 1, MPI_INT, left(), 4, &go, 1, MPI_INT, right(), 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Ssend(&sent[0], 1, MPI_INT, right(), 1, MPI_COMM_WORLD);
  step();
  MPI_Send(&sent[1], 1, MPI_INT, right(), 1, MPI_COMM_WORLD);
  MPI_Recv(&got[1], 1, MPI_INT, left(), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  for (i = 0; i < 4; ++i) CHECK(got[i] == 1000 * round + 10 * left() + i);
}

/* A matched message to itself: its synchronous send ends when MPI_Imrecv has begun. */
static void matched_to_itself(int round) {
  int sent = 100 * round + rank, got = -1;
  MPI_Request requests[2];
  MPI_Message message;
  MPI_Issend(&sent, 1, MPI_INT, rank, 5, MPI_COMM_WORLD, &requests[0]);
  step();
  MPI_Mprobe(rank, 5, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
  step();
  MPI_Imrecv(&got, 1, MPI_INT, &message, &requests[1]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  CHECK(got == sent);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* Messages are matched, and received when another rank has sent one. It may die before that, while the sender waits in MPI. */
static void matched_early(int round) {
  enum { LARGE = 500000 };
  static int sent[LARGE], got[LARGE];
  const int sender = round % size, receiver = (round + 1) % size, other = (round + 2) % size;
  int small = round, go = -1;
  MPI_Message messages[2];
  if (size > 2 && rank == sender) {
    fill(sent, sizeof(sent), rank, round);
    MPI_Send(sent, LARGE, MPI_INT, receiver, 1, MPI_COMM_WORLD);
    step();
    MPI_Ssend(&small, 1, MPI_INT, receiver, 2, MPI_COMM_WORLD);
  }
  if (size > 2 && rank == receiver) {
    MPI_Mprobe(sender, 1, MPI_COMM_WORLD, &messages[0], MPI_STATUS_IGNORE);
    step();
    MPI_Send(&round, 1, MPI_INT, other, 5, MPI_COMM_WORLD);
    MPI_Recv(&go, 1, MPI_INT, other, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Mrecv(got, LARGE, MPI_INT, &messages[0], MPI_STATUS_IGNORE);
    expect(got, sizeof(got), sender, round);
    MPI_Mprobe(MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &messages[1], MPI_STATUS_IGNORE);
    step();
    MPI_Send(&round, 1, MPI_INT, other, 5, MPI_COMM_WORLD);
    MPI_Recv(&go, 1, MPI_INT, other, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    small = -1;
    MPI_Mrecv(&small, 1, MPI_INT, &messages[1], MPI_STATUS_IGNORE);
    CHECK(small == round && go == round);
  }
  if (size > 2 && rank == other) {
    MPI_Recv(&go, 1, MPI_INT, receiver, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    step();
    MPI_Send(&round, 1, MPI_INT, receiver, 3, MPI_COMM_WORLD);
    MPI_Recv(&go, 1, MPI_INT, receiver, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    step();
    MPI_Send(&round, 1, MPI_INT, receiver, 4, MPI_COMM_WORLD);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static int has_message(int from, int to, int number) { return (from * 7 + to * 13 + number * 5) % 3 == 0; }

/* Nobody knows from whom it gets messages. A synchronous send ends when its receive has begun, and the barrier when all sends of all ranks have. */
static void unknown_senders(int round) {
  int* const sent = malloc(sizeof(int) * (size_t)size);
  int* const got = malloc(sizeof(int) * (size_t)size);
  MPI_Request* const requests = malloc(sizeof(MPI_Request) * (size_t)size);
  int turn, other, found, ended;
  for (turn = 0; turn < 4; ++turn) {
    const int number = 4 * round + turn, tag = number % 2;
    MPI_Request barrier = MPI_REQUEST_NULL;
    int in_barrier = 0, messages = 0;
    for (other = 0; other < size; ++other) {
      got[other] = -1;
      sent[other] = 1000 * number + other;
      if (!has_message(rank, other, number)) continue;
      MPI_Issend(&sent[other], 1, MPI_INT, other, tag, MPI_COMM_WORLD, &requests[messages++]);
    }
    step();
    for (ended = 0; !ended;) {
      MPI_Status status;
      MPI_Iprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &found, &status);
      if (found) {
        CHECK(got[status.MPI_SOURCE] == -1);
        MPI_Recv(&got[status.MPI_SOURCE], 1, MPI_INT, status.MPI_SOURCE, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
      if (in_barrier) {
        MPI_Test(&barrier, &ended, MPI_STATUS_IGNORE);
        continue;
      }
      MPI_Testall(messages, requests, &in_barrier, MPI_STATUSES_IGNORE);
      if (!in_barrier) continue;
      step();
      MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
    }
    step();
    for (other = 0; other < size; ++other) {
      CHECK(got[other] == (has_message(other, rank, number) ? 1000 * number + rank : -1));
    }
  }
  free(sent);
  free(got);
  free(requests);
}

/* Matched probes: the message cannot be got by another receive. */
static void matched(int round) {
  int sent[WORDS], got[WORDS], turn, found, count;
  MPI_Message message;
  MPI_Status status;
  for (turn = 0; turn < 4; ++turn) {
    MPI_Request request, received;
    fill(sent, sizeof(sent), rank, 10 * round + turn);
    MPI_Isend(sent, WORDS, MPI_INT, right(), turn, MPI_COMM_WORLD, &request);
    step();
    if (turn % 2 == 0) {
      MPI_Mprobe(MPI_ANY_SOURCE, turn, MPI_COMM_WORLD, &message, &status);
    } else {
      for (found = 0; !found;) MPI_Improbe(left(), MPI_ANY_TAG, MPI_COMM_WORLD, &found, &message, &status);
    }
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == WORDS && status.MPI_TAG == turn);
    step();
    if (turn < 2) {
      MPI_Mrecv(got, WORDS, MPI_INT, &message, MPI_STATUS_IGNORE);
    } else {
      MPI_Imrecv(got, WORDS, MPI_INT, &message, &received);
      MPI_Wait(&received, MPI_STATUS_IGNORE);
    }
    CHECK(message == MPI_MESSAGE_NULL);
    expect(got, sizeof(got), left(), 10 * round + turn);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Mprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &message, &status);
  CHECK(message == MPI_MESSAGE_NO_PROC);
  MPI_Mrecv(got, 0, MPI_INT, &message, MPI_STATUS_IGNORE);
}

/* All functions that look for the end of requests. */
static void completions(int round) {
  enum { MANY = 4 };
  int sent[MANY], got[MANY], way, i, flag, index, done, indices[2 * MANY];
  MPI_Request requests[2 * MANY];
  MPI_Status statuses[2 * MANY];
  for (way = 0; way < 7; ++way) {
    for (i = 0; i < MANY; ++i) {
      got[i] = -1;
      MPI_Irecv(&got[i], 1, MPI_INT, left(), i, MPI_COMM_WORLD, &requests[i]);
    }
    for (i = 0; i < MANY; ++i) {
      sent[i] = 1000 * rank + 100 * round + 10 * way + i;
      MPI_Isend(&sent[i], 1, MPI_INT, right(), i, MPI_COMM_WORLD, &requests[MANY + i]);
    }
    step();
    if (way == 0) {
      for (i = 0; i < 2 * MANY; ++i) {
        for (flag = 0; !flag;) MPI_Test(&requests[i], &flag, &statuses[i]);
        CHECK(requests[i] == MPI_REQUEST_NULL);
      }
    } else if (way == 1) {
      for (flag = 0; !flag;) MPI_Testall(2 * MANY, requests, &flag, statuses);
    } else if (way == 2) {
      for (done = 0; done < 2 * MANY; done += flag) {
        MPI_Testany(2 * MANY, requests, &index, &flag, &statuses[0]);
        CHECK(!flag || (index >= 0 && index < 2 * MANY && requests[index] == MPI_REQUEST_NULL));
      }
    } else if (way == 3) {
      for (done = 0; done < 2 * MANY; done += flag) {
        MPI_Testsome(2 * MANY, requests, &flag, indices, statuses);
        CHECK(flag >= 0 && flag <= 2 * MANY - done);
      }
    } else if (way == 4) {
      for (done = 0; done < 2 * MANY; ++done) MPI_Waitany(2 * MANY, requests, &index, &statuses[0]);
      MPI_Waitany(2 * MANY, requests, &index, &statuses[0]);
      CHECK(index == MPI_UNDEFINED);
    } else if (way == 5) {
      for (done = 0; done < 2 * MANY; done += flag) MPI_Waitsome(2 * MANY, requests, &flag, indices, statuses);
      MPI_Waitsome(2 * MANY, requests, &flag, indices, statuses);
      CHECK(flag == MPI_UNDEFINED);
    } else {
      for (i = 0; i < MANY; ++i) {
        for (flag = 0; !flag;) MPI_Request_get_status(requests[i], &flag, &statuses[i]);
        CHECK(requests[i] != MPI_REQUEST_NULL && statuses[i].MPI_TAG == i);
      }
      MPI_Waitall(2 * MANY, requests, statuses);
    }
    step();
    for (i = 0; i < MANY; ++i) CHECK(got[i] == 1000 * left() + 100 * round + 10 * way + i);
  }
}

/* Receives that get nothing are cancelled. */
static void cancel(int round) {
  int value = round, got = -1, other = -1, flag = 0;
  MPI_Request unused[2], request;
  MPI_Status status;
  MPI_Irecv(&got, 1, MPI_INT, left(), 91, MPI_COMM_WORLD, &unused[0]);
  MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 92, MPI_COMM_WORLD, &unused[1]);
  MPI_Irecv(&other, 1, MPI_INT, left(), 1, MPI_COMM_WORLD, &request);
  step();
  MPI_Send(&value, 1, MPI_INT, right(), 1, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(other == round);
  step();
  MPI_Cancel(&unused[0]);
  for (flag = 0; !flag;) MPI_Request_get_status(unused[0], &flag, &status);
  MPI_Test_cancelled(&status, &flag);
  CHECK(flag);
  MPI_Wait(&unused[0], &status);
  MPI_Test_cancelled(&status, &flag);
  CHECK(flag);
  step();
  MPI_Cancel(&unused[1]);
  MPI_Wait(&unused[1], &status);
  MPI_Test_cancelled(&status, &flag);
  CHECK(flag && got == -1);
  MPI_Barrier(MPI_COMM_WORLD);
  /* Later messages with these tags go to later receives. */
  MPI_Sendrecv(&value, 1, MPI_INT, right(), 92, &got, 1, MPI_INT, MPI_ANY_SOURCE, 92, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  CHECK(got == round);
}

/* Requests that are freed while they are active. */
static void request_free(int round) {
  static int sent[3];
  static volatile int first, second;
  int got = -1;
  MPI_Request request;
  first = second = -1;
  MPI_Irecv((void*)&first, 1, MPI_INT, left(), 1, MPI_COMM_WORLD, &request);
  MPI_Request_free(&request);
  CHECK(request == MPI_REQUEST_NULL);
  MPI_Irecv((void*)&second, 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &request);
  MPI_Request_free(&request);
  step();
  sent[0] = 100 * rank + round;
  sent[1] = sent[0] + 1;
  sent[2] = sent[0] + 2;
  MPI_Isend(&sent[0], 1, MPI_INT, right(), 1, MPI_COMM_WORLD, &request);
  MPI_Request_free(&request);
  MPI_Isend(&sent[1], 1, MPI_INT, right(), 2, MPI_COMM_WORLD, &request);
  MPI_Request_free(&request);
  step();
  /* Messages do not overtake: the receives that were freed have got the first ones. */
  MPI_Send(&sent[2], 1, MPI_INT, right(), 1, MPI_COMM_WORLD);
  MPI_Recv(&got, 1, MPI_INT, left(), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK(got == 100 * left() + round + 2);
  MPI_Send(&sent[2], 1, MPI_INT, right(), 2, MPI_COMM_WORLD);
  MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK(got == 100 * left() + round + 2);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(first == 100 * left() + round && second == first + 1);
}

/* Many messages at once, of which some come in another order than they are waited for. */
static void many(int round) {
  enum { MANY = 500 };
  int sent[MANY], got[MANY], i;
  MPI_Request requests[2 * MANY];
  for (i = 0; i < MANY; ++i) MPI_Irecv(&got[i], 1, MPI_INT, left(), i % 7, MPI_COMM_WORLD, &requests[i]);
  step();
  for (i = 0; i < MANY; ++i) {
    sent[i] = 100000 * rank + 1000 * round + i;
    MPI_Isend(&sent[i], 1, MPI_INT, right(), i % 7, MPI_COMM_WORLD, &requests[MANY + i]);
    if (i == MANY / 2) step();
  }
  MPI_Waitall(2 * MANY, requests, MPI_STATUSES_IGNORE);
  for (i = 0; i < MANY; ++i) CHECK(got[i] == 100000 * left() + 1000 * round + i);
}

/* A receive in MPI_Recv behind others from the same rank with the same tag that have no message yet. */
static void behind_open(int round) {
  enum { BEHIND = 3 };
  int sent[BEHIND], got[BEHIND], i;
  MPI_Request received[BEHIND], begun[BEHIND];
  for (i = 0; i + 1 < BEHIND; ++i) MPI_Irecv(&got[i], 1, MPI_INT, left(), 3, MPI_COMM_WORLD, &received[i]);
  step();
  for (i = 0; i < BEHIND; ++i) {
    sent[i] = 1000 * rank + 10 * round + i;
    MPI_Isend(&sent[i], 1, MPI_INT, right(), 3, MPI_COMM_WORLD, &begun[i]);
  }
  MPI_Recv(&got[BEHIND - 1], 1, MPI_INT, left(), 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  step();
  MPI_Waitall(BEHIND - 1, received, MPI_STATUSES_IGNORE);
  MPI_Waitall(BEHIND, begun, MPI_STATUSES_IGNORE);
  for (i = 0; i < BEHIND; ++i) CHECK(got[i] == 1000 * left() + 10 * round + i);
}

/* A new tag in each step. */
static void new_tags(int round) {
  int i;
  for (i = 0; i < 200; ++i) {
    int value = rank * 7 + i;
    if (i % 50 == 25) step();
    MPI_Sendrecv_replace(&value, 1, MPI_INT, right(), 1000 * round + i, left(), 1000 * round + i, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    CHECK(value == left() * 7 + i);
  }
}

/* The largest tag that MPI promises. */
static void largest_tag(int round) {
  int* bound = NULL;
  int flag = 0, value = round, got = -1;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &bound, &flag);
  CHECK(flag && *bound >= 32767);
  step();
  MPI_Sendrecv(&value, 1, MPI_INT, right(), *bound, &got, 1, MPI_INT, left(), *bound, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  CHECK(got == round);
}

/* Messages to the rank itself, also on MPI_COMM_SELF. */
static void to_itself(int round) {
  int sent[WORDS], got[WORDS];
  MPI_Request request;
  MPI_Comm comms[2];
  int i, found = 0;
  comms[0] = MPI_COMM_WORLD;
  comms[1] = MPI_COMM_SELF;
  for (i = 0; i < 2; ++i) {
    const int self = i ? 0 : rank;
    fill(sent, sizeof(sent), rank, round + i);
    MPI_Isend(sent, WORDS, MPI_INT, self, 5, comms[i], &request);
    step();
    while (!found) MPI_Iprobe(self, 5, comms[i], &found, MPI_STATUS_IGNORE);
    found = 0;
    MPI_Recv(got, WORDS, MPI_INT, self, 5, comms[i], MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(got, sizeof(got), rank, round + i);
    fill(sent, sizeof(sent), rank, round + 9);
    MPI_Sendrecv(sent, WORDS, MPI_INT, self, 6, got, WORDS, MPI_INT, self, 6, comms[i], MPI_STATUS_IGNORE);
    expect(got, sizeof(got), rank, round + 9);
  }
}

/* Messages without bytes, and to nobody. */
static void nothing(int round) {
  int count = -1;
  MPI_Status status;
  MPI_Request requests[2];
  step();
  MPI_Sendrecv(NULL, 0, MPI_INT, right(), round, NULL, 0, MPI_INT, left(), round, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  CHECK(count == 0 && status.MPI_SOURCE == left());
  MPI_Irecv(NULL, 0, MPI_DOUBLE, left(), round, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(NULL, 0, MPI_DOUBLE, right(), round, MPI_COMM_WORLD, &requests[1]);
  step();
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Send(&count, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
  MPI_Recv(&count, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status);
  CHECK(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG);
  MPI_Probe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status);
  CHECK(status.MPI_SOURCE == MPI_PROC_NULL);
  MPI_Wait(&requests[0], &status);
  CHECK(requests[0] == MPI_REQUEST_NULL && status.MPI_SOURCE == MPI_ANY_SOURCE);
}

/* A row of ranks whose ends have no neighbour: each call there is one with MPI_PROC_NULL. */
static void edges(int round) {
  const int above = rank + 1 < size ? rank + 1 : MPI_PROC_NULL, below = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  int i, got, found;
  MPI_Request requests[4];
  MPI_Message message;
  MPI_Status status;
  for (i = 0; i < 40; ++i) {
    const int value = 100 * rank + i + round;
    if (i % 10 == 0) step();
    got = -1;
    MPI_Sendrecv(&value, 1, MPI_INT, above, 1, &got, 1, MPI_INT, below, 1, MPI_COMM_WORLD, &status);
    CHECK(got == (rank > 0 ? value - 100 : -1) && status.MPI_SOURCE == below);
    got = -1;
    MPI_Irecv(&got, 1, MPI_INT, above, 2, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(&got, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &requests[1]);
    MPI_Start(&requests[1]);
    MPI_Isend(&value, 1, MPI_INT, below, 2, MPI_COMM_WORLD, &requests[2]);
    MPI_Issend(&value, 1, MPI_INT, MPI_PROC_NULL, 2, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    MPI_Request_free(&requests[1]);
    CHECK(got == (rank + 1 < size ? value + 100 : -1));
    MPI_Probe(MPI_PROC_NULL, 4, MPI_COMM_WORLD, &status);
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG);
    MPI_Iprobe(MPI_PROC_NULL, 4, MPI_COMM_WORLD, &found, &status);
    CHECK(found && status.MPI_SOURCE == MPI_PROC_NULL);
    MPI_Improbe(MPI_PROC_NULL, 4, MPI_COMM_WORLD, &found, &message, &status);
    CHECK(found && message == MPI_MESSAGE_NO_PROC);
    MPI_Mrecv(&got, 1, MPI_INT, &message, &status);
    MPI_Recv(&got, 1, MPI_INT, MPI_PROC_NULL, 4, MPI_COMM_WORLD, &status);
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL);
    MPI_Ssend(&got, 1, MPI_INT, MPI_PROC_NULL, 4, MPI_COMM_WORLD);
    MPI_Sendrecv_replace(&got, 1, MPI_INT, MPI_PROC_NULL, 4, MPI_PROC_NULL, 4, MPI_COMM_WORLD, &status);
  }
}

/* Many messages in an attached buffer; MPI_Buffer_detach waits until they are on their way. */
static void buffered(int round) {
  int sent[6][WORDS], got[WORDS], i;
  MPI_Request requests[2];
  attach(6, sizeof(sent[0]));
  for (i = 0; i < 4; ++i) {
    fill(sent[i], sizeof(sent[i]), rank, 10 * round + i);
    MPI_Bsend(sent[i], WORDS, MPI_INT, right(), i, MPI_COMM_WORLD);
  }
  step();
  fill(sent[4], sizeof(sent[4]), rank, 10 * round + 4);
  fill(sent[5], sizeof(sent[5]), rank, 10 * round + 5);
  MPI_Ibsend(sent[4], WORDS, MPI_INT, right(), 4, MPI_COMM_WORLD, &requests[0]);
  MPI_Bsend_init(sent[5], WORDS, MPI_INT, right(), 5, MPI_COMM_WORLD, &requests[1]);
  MPI_Start(&requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Request_free(&requests[1]);
  memset(sent, 0, sizeof(sent));
  step();
  for (i = 5; i >= 0; --i) {
    MPI_Recv(got, WORDS, MPI_INT, left(), i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect(got, sizeof(got), left(), 10 * round + i);
  }
  detach();
}

/* Large messages beside small ones, with other lengths than the receives have. */
static void large(int round) {
  const size_t bytes = 3000000;
  char* sent = malloc(bytes);
  char* got = malloc(bytes + 100);
  int small = -1, count = 0;
  MPI_Request requests[3];
  MPI_Status statuses[3];
  fill(sent, bytes, rank, round);
  MPI_Irecv(got, (int)bytes + 100, MPI_BYTE, left(), 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(&small, 1, MPI_INT, left(), 2, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(sent, (int)bytes, MPI_BYTE, right(), 1, MPI_COMM_WORLD, &requests[2]);
  step();
  MPI_Send(&round, 1, MPI_INT, right(), 2, MPI_COMM_WORLD);
  step();
  MPI_Waitall(3, requests, statuses);
  MPI_Get_count(&statuses[0], MPI_BYTE, &count);
  CHECK(count == (int)bytes && small == round);
  expect(got, bytes, left(), round);
  free(sent);
  free(got);
}

static const struct Case cases[] = {{"modes", modes},
                                    {"ready", ready},
                                    {"nonblocking", nonblocking},
                                    {"persistent", persistent},
                                    {"persistent_wildcards", persistent_wildcards},
                                    {"sendrecv", sendrecv},
                                    {"wildcards", wildcards},
                                    {"probes", probes},
                                    {"many_patterns", many_patterns},
                                    {"found_at_once", found_at_once},
                                    {"matched_to_itself", matched_to_itself},
                                    {"matched_early", matched_early},
                                    {"unknown_senders", unknown_senders},
                                    {"matched", matched},
                                    {"completions", completions},
                                    {"cancel", cancel},
                                    {"request_free", request_free},
                                    {"many", many},
                                    {"behind_open", behind_open},
                                    {"new_tags", new_tags},
                                    {"largest_tag", largest_tag},
                                    {"to_itself", to_itself},
                                    {"nothing", nothing},
                                    {"edges", edges},
                                    {"buffered", buffered},
                                    {"large", large}};

int main(int argc, char** argv) { return run_cases(argc, argv, cases, COUNT_OF(cases)); }
