/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program that knows nothing of Fenix, with messages of all kinds: absolute addresses, no bytes, requests that are let go of, synchronous
 * and buffered ones.
 *
 *   data_messages CASE [MEBIBYTES]
 */
#define _DEFAULT_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COUNT = 3, TAG = 5, GO = 6 };

static int rank, size, wrong;

static void require(int holds, const char* what) {
  if (!holds) printf("FENIX-TEST-FAIL rank %d: %s\n", rank, what);
  if (!holds) wrong = 1;
}

typedef int SendFunction(const void*, int, MPI_Datatype, int, int, MPI_Comm);
typedef int BeginFunction(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

static SendFunction* const blocking[] = {MPI_Send, MPI_Bsend, MPI_Ssend};
static BeginFunction* const immediate[] = {MPI_Isend, MPI_Ibsend, MPI_Issend};
static BeginFunction* const persistent[] = {MPI_Send_init, MPI_Bsend_init, MPI_Ssend_init};

/* Sends in each way to the next rank and receives from the one before. */
static void exchange_all(const void* from, int from_count, MPI_Datatype from_type, void* to, int to_count,
                         MPI_Datatype to_type, void (*prepare)(void), void (*check)(int)) {
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  MPI_Request requests[2];
  for (int i = 0; i < 3; ++i) {
    prepare();
    MPI_Irecv(to, to_count, to_type, before, TAG, MPI_COMM_WORLD, requests);
    blocking[i](from, from_count, from_type, next, TAG, MPI_COMM_WORLD);
    MPI_Wait(requests, MPI_STATUS_IGNORE);
    check(before);
    prepare();
    immediate[i](from, from_count, from_type, next, TAG, MPI_COMM_WORLD, requests);
    MPI_Recv(to, to_count, to_type, before, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(requests, MPI_STATUS_IGNORE);
    check(before);
    persistent[i](from, from_count, from_type, next, TAG, MPI_COMM_WORLD, requests);
    MPI_Recv_init(to, to_count, to_type, before, TAG, MPI_COMM_WORLD, requests + 1);
    for (int turn = 0; turn < 2; ++turn) {
      prepare();
      MPI_Startall(2, requests);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
      check(before);
    }
    MPI_Request_free(requests);
    MPI_Request_free(requests + 1);
  }
  prepare();
  MPI_Sendrecv(from, from_count, from_type, next, TAG, to, to_count, to_type, before, TAG, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  check(before);
}

static double given[COUNT], got[COUNT];

static void fill(void) {
  for (int i = 0; i < COUNT; ++i) given[i] = 10 * rank + i;
  for (int i = 0; i < COUNT; ++i) got[i] = -1;
}

static void check_numbers(int before) {
  for (int i = 0; i < COUNT; ++i) require(got[i] == 10 * before + i, "a number");
}

static MPI_Datatype type_at(double* numbers) {
  MPI_Datatype type;
  MPI_Aint places[COUNT];
  int lengths[COUNT];
  for (int i = 0; i < COUNT; ++i) {
    MPI_Get_address(numbers + i, places + i);
    lengths[i] = 1;
  }
  MPI_Type_create_hindexed(COUNT, lengths, places, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  return type;
}

static void with_addresses(void) {
  MPI_Datatype from = type_at(given), to = type_at(got);
  exchange_all(MPI_BOTTOM, 1, from, MPI_BOTTOM, 1, to, fill, check_numbers);
  fill();
  if (rank == 0) memcpy(got, given, sizeof got);
  MPI_Bcast(MPI_BOTTOM, 1, to, 0, MPI_COMM_WORLD);
  check_numbers(0);
  fill();
  MPI_Sendrecv(MPI_BOTTOM, 1, from, 0, TAG, got, rank == 0 ? 0 : COUNT, MPI_DOUBLE, rank == 0 ? MPI_PROC_NULL : 0, TAG,
               MPI_COMM_SELF, MPI_STATUS_IGNORE);
  MPI_Type_free(&from);
  MPI_Type_free(&to);
}

static void nothing(void) {}
static void check_nothing(int before) { (void)before; }

static void with_nothing(void) {
  MPI_Datatype empty, type;
  MPI_Status status;
  int count = -1;
  char byte = 'a';
  MPI_Type_contiguous(0, MPI_INT, &empty);
  MPI_Type_commit(&empty);
  exchange_all(NULL, 0, MPI_INT, NULL, 0, MPI_INT, nothing, check_nothing);
  exchange_all(NULL, 4, empty, NULL, 4, empty, nothing, check_nothing);
  exchange_all(&byte, 4, empty, &byte, 1, MPI_CHAR, nothing, check_nothing);
  require(byte == 'a', "a byte that nobody has sent");
  MPI_Type_vector(0, 3, 5, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  exchange_all(NULL, 2, type, NULL, 0, MPI_BYTE, nothing, check_nothing);
  MPI_Sendrecv(NULL, 7, empty, (rank + 1) % size, TAG, NULL, 7, empty, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  require(count == 0, "the count of an empty message");
  MPI_Bcast(NULL, 3, empty, 0, MPI_COMM_WORLD);
  MPI_Bcast(NULL, 0, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Type_free(&empty);
  MPI_Type_free(&type);
}

/* The receive is done, and the messages for the others stay theirs. */
static void with_freed(int source) {
  static int values[4];
  MPI_Request request;
  if (rank == 0) {
    MPI_Irecv(values, 1, MPI_INT, source, TAG, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    require(request == MPI_REQUEST_NULL, "the request that was freed");
    MPI_Irecv(values + 1, 1, MPI_INT, source, TAG, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Recv_init(values + 2, 1, MPI_INT, source, TAG, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    MPI_Request_free(&request);
    MPI_Recv(values + 3, 1, MPI_INT, source, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 4; ++i) require(values[i] == i + 1, "a value");
  } else {
    MPI_Barrier(MPI_COMM_WORLD);
  }
  for (int i = 1; i <= 4 && rank == 1; ++i) MPI_Send(&i, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* Sends that end when their message is being received, and not before. */
static void with_synchronous(void) {
  enum { TESTS = 2000 };
  int value = rank, flag = 0, go = 0;
  MPI_Request request;
  if (rank == 0) {
    MPI_Issend(&value, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD, &request);
    for (int i = 0; i < TESTS && !flag; ++i) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    require(!flag, "MPI_Issend is complete before its message is received");
    MPI_Send(&go, 1, MPI_INT, 1, GO, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Ssend_init(&value, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    for (int i = 0; i < TESTS && !flag; ++i) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    require(!flag, "the request of MPI_Ssend_init is complete before its message is received");
    MPI_Send(&go, 1, MPI_INT, 1, GO, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    MPI_Ssend(&value, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD);
    MPI_Send(&go, 1, MPI_INT, 1, GO, MPI_COMM_WORLD);
    /* A wildcard is open meanwhile. */
    MPI_Irecv(&go, 1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &request);
    MPI_Ssend(&value, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD);
    MPI_Send(&value, 1, MPI_INT, 1, GO, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (rank == 1) {
    for (int i = 0; i < 2; ++i) {
      MPI_Recv(&go, 1, MPI_INT, 0, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Recv(&value, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < 2; ++i) {
      for (int probe = 0; probe < 20; ++probe) {
        MPI_Iprobe(0, GO, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        require(!flag, "MPI_Ssend has returned before its message was received");
        usleep(5000);
      }
      MPI_Recv(&value, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Recv(&go, 1, MPI_INT, 0, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Send(&go, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD);
  }
}

/* Buffers may be written to at once, and nobody receives before. */
static void with_buffered(void) {
  enum { BYTES = 100000 };
  static char content[BYTES], attached[3 * (BYTES + MPI_BSEND_OVERHEAD)];
  void* detached = NULL;
  int bytes = 0, go = 0;
  MPI_Request request;
  MPI_Buffer_attach(attached, sizeof attached);
  if (rank == 0) {
    memset(content, 'a', BYTES);
    MPI_Bsend(content, BYTES, MPI_CHAR, 1, TAG, MPI_COMM_WORLD);
    memset(content, 'b', BYTES);
    MPI_Ibsend(content, BYTES, MPI_CHAR, 1, TAG, MPI_COMM_WORLD, &request);
    memset(content, 'c', BYTES);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Bsend_init(content, BYTES, MPI_CHAR, 1, TAG, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    memset(content, 'd', BYTES);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    MPI_Send(&go, 1, MPI_INT, 1, GO, MPI_COMM_WORLD);
  } else if (rank == 1) {
    MPI_Recv(&go, 1, MPI_INT, 0, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 3; ++i) {
      MPI_Recv(content, BYTES, MPI_CHAR, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      int good = 0;
      for (int k = 0; k < BYTES; ++k) good += content[k] == 'a' + i;
      require(good == BYTES, "a buffered message");
    }
  }
  MPI_Buffer_detach(&detached, &bytes);
  require(detached == attached, "the buffer");
}

/* Types that are freed, and whose handles become those of others with other gaps. */
static void with_types(void) {
  enum { ELEMENTS = 5, MOST_GAP = 40 };
  static int from[ELEMENTS * MOST_GAP], to[ELEMENTS * MOST_GAP];
  const int other = 1 - rank;
  for (int gap = 1; gap < MOST_GAP; ++gap) {
    MPI_Datatype type;
    MPI_Request request;
    MPI_Type_vector(ELEMENTS, 1, gap, MPI_INT, &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < ELEMENTS * MOST_GAP; ++i) from[i] = 1000 * rank + i;
    for (int turn = 0; turn < 2; ++turn) {
      memset(to, -1, sizeof to);
      MPI_Isend(from, 1, type, other, TAG, MPI_COMM_WORLD, &request);
      if (turn == 1) MPI_Type_free(&type);
      MPI_Recv(to, ELEMENTS, MPI_INT, other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      for (int i = 0; i < ELEMENTS; ++i) require(to[i] == 1000 * other + i * gap, "an element of a type with gaps");
      MPI_Sendrecv_replace(to, ELEMENTS, MPI_INT, other, TAG, other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      for (int i = 0; i < ELEMENTS; ++i) require(to[i] == 1000 * rank + i * gap, "an element that comes back");
    }
    MPI_Type_vector(ELEMENTS, 1, gap, MPI_INT, &type);
    MPI_Type_commit(&type);
    memset(to, -1, sizeof to);
    MPI_Bsend(from, 1, type, other, TAG, MPI_COMM_WORLD);
    MPI_Type_free(&type);
    MPI_Recv(to, ELEMENTS, MPI_INT, other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < ELEMENTS; ++i) require(to[i] == 1000 * other + i * gap, "an element that is copied");
  }
}

/* A block of bytes of which each eighth one says where it is. */
static char* block(size_t bytes, unsigned first) {
  char* const made = malloc(bytes);
  require(made != NULL, "there is no memory");
  for (size_t i = 0; i < bytes / 8; ++i) ((unsigned long*)made)[i] = first + i;
  return made;
}

static void check_block(const char* from, size_t bytes, unsigned first, const char* what) {
  size_t good = 0;
  for (size_t i = 0; i < bytes / 8; ++i) good += ((const unsigned long*)from)[i] == first + i;
  require(good == bytes / 8, what);
}

/* Messages of so many MiB, also where a call has one buffer for both directions. */
static void with_large(int mebibytes, int everything) {
  const size_t bytes = (size_t)mebibytes << 20;
  const int count = (int)(bytes / 8), other = 1 - rank;
  char* content = block(bytes, rank == 0 ? 7 : 100);
  MPI_Request request;
  MPI_Bcast(content, count, MPI_UNSIGNED_LONG, 0, MPI_COMM_WORLD);
  check_block(content, bytes, 7, "MPI_Bcast");
  free(content);
  if (!everything) return;
  content = block(bytes, (unsigned)rank);
  MPI_Sendrecv_replace(content, count, MPI_UNSIGNED_LONG, other, TAG, other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  check_block(content, bytes, (unsigned)other, "MPI_Sendrecv_replace");
  char* got = block(bytes, 1000);
  MPI_Isendrecv(content, count, MPI_UNSIGNED_LONG, other, TAG, got, count, MPI_UNSIGNED_LONG, other, TAG,
                MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check_block(got, bytes, (unsigned)rank, "MPI_Isendrecv");
  MPI_Send_init(content, count, MPI_UNSIGNED_LONG, other, TAG, MPI_COMM_WORLD, &request);
  MPI_Start(&request);
  MPI_Recv(got, count, MPI_UNSIGNED_LONG, other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
  check_block(got, bytes, (unsigned)rank, "MPI_Send_init");
  MPI_Alltoall(content, count / 2, MPI_UNSIGNED_LONG, got, count / 2, MPI_UNSIGNED_LONG, MPI_COMM_WORLD);
  check_block(got + (size_t)rank * (bytes / 2), bytes / 2, (unsigned)other + (unsigned)rank * (unsigned)(count / 2),
              "MPI_Alltoall");
  free(content);
  free(got);
}

int main(int argc, char** argv) {
  const char* const name = argc > 1 ? argv[1] : "nothing";
  static char attached[1 << 16];
  void* detached = NULL;
  int bytes = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (strcmp(name, "buffered") == 0) {
    with_buffered();
  } else {
    MPI_Buffer_attach(attached, sizeof attached);
    if (strcmp(name, "addresses") == 0) with_addresses();
    if (strcmp(name, "nothing") == 0) with_nothing();
    if (strcmp(name, "freed") == 0) with_freed(1);
    if (strcmp(name, "freed_any") == 0) with_freed(MPI_ANY_SOURCE);
    if (strcmp(name, "synchronous") == 0) with_synchronous();
    if (strcmp(name, "types") == 0) with_types();
    if (strcmp(name, "large") == 0) with_large(40, 1);
    if (strcmp(name, "huge") == 0) with_large(argc > 2 ? atoi(argv[2]) : 2304, argc <= 2);
    MPI_Buffer_detach(&detached, &bytes);
  }
  if (!wrong) printf("FENIX-TEST-OK rank %d\n", rank);
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
