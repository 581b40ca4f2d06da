/* SPDX-License-Identifier: BSD-3-Clause */
/* What message logging does not cover: each program works in plain MPI. */
#include "plain.h"

#include <mpi-ext.h>

/* Adds up numbers in the memory of rank 0. */
static void add_up(MPI_Win window, int* memory, int round) {
  const int value = rank + round;
  MPI_Win_fence(0, window);
  MPI_Accumulate(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, window);
  step();
  MPI_Win_fence(0, window);
  CHECK(rank != 0 || *memory == size * (size - 1) / 2 + size * round);
  MPI_Win_free(&window);
}

static void win_create(int round) {
  int memory = 0;
  MPI_Win window;
  step();
  MPI_Win_create(&memory, sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  add_up(window, &memory, round);
}

static void win_allocate(int round) {
  int* memory;
  MPI_Win window;
  step();
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  *memory = 0;
  add_up(window, memory, round);
}

static void win_allocate_shared(int round) {
  int *memory, *first, unit;
  MPI_Aint bytes;
  MPI_Comm node;
  MPI_Win window;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  step();
  MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, node, &memory, &window);
  *memory = rank + round;
  step();
  MPI_Win_fence(0, window);
  MPI_Win_shared_query(window, 0, &bytes, &unit, &first);
  CHECK(bytes == sizeof(int) && *first >= round);
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
  MPI_Comm_free(&node);
}

static void win_create_dynamic(int round) {
  int memory = 0, value = rank + round;
  MPI_Aint place;
  MPI_Win window;
  step();
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_attach(window, &memory, sizeof(memory));
  step();
  MPI_Get_address(&memory, &place);
  MPI_Bcast(&place, 1, MPI_AINT, 0, MPI_COMM_WORLD);
  MPI_Win_fence(0, window);
  MPI_Accumulate(&value, 1, MPI_INT, 0, place, 1, MPI_INT, MPI_SUM, window);
  MPI_Win_fence(0, window);
  CHECK(rank != 0 || memory == size * (size - 1) / 2 + size * round);
  MPI_Win_detach(window, &memory);
  MPI_Win_free(&window);
}

/* One file of all ranks. */
static void file_open(int round) {
  char name[4000];
  int value = rank + round, got = -1;
  const char* folder = getenv("TMPDIR");
  MPI_File file;
  snprintf(name, sizeof(name), "%s/plain-shared", folder ? folder : "/tmp");
  step();
  /* The handler of files returns errors by default. */
  MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL);
  CHECK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                      &file) == MPI_SUCCESS);
  MPI_File_write_at_all(file, rank * (MPI_Offset)sizeof(int), &value, 1, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_sync(file);
  step();
  MPI_File_read_at_all(file, (rank + 1) % size * (MPI_Offset)sizeof(int), &got, 1, MPI_INT, MPI_STATUS_IGNORE);
  CHECK(got == (rank + 1) % size + round);
  MPI_File_close(&file);
}

/* Two halves that talk to each other. */
static void intercomm_create(int round) {
  const int half = rank % 2;
  int value = rank + round, got = -1;
  MPI_Comm own, both;
  MPI_Comm_split(MPI_COMM_WORLD, half, rank, &own);
  step();
  MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, 1 - half, 3, &both);
  step();
  MPI_Allreduce(&value, &got, 1, MPI_INT, MPI_MIN, both);
  CHECK(got == 1 - half + round);
  MPI_Comm_free(&both);
  MPI_Comm_free(&own);
}

static char program[4000];

/* A new process, which runs this program as well. */
static void comm_spawn(int round) {
  int error = -1, value = -1;
  MPI_Comm child;
  char* arguments[] = {"child", NULL};
  if (round != 0) return;
  step();
  MPI_Comm_spawn(program, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &child, &error);
  CHECK(error == MPI_SUCCESS);
  step();
  if (rank == 0) MPI_Recv(&value, 1, MPI_INT, 0, 1, child, MPI_STATUS_IGNORE);
  CHECK(rank != 0 || value == 4711);
  MPI_Comm_disconnect(&child);
}

static void be_child(void) {
  int value = 4711;
  MPI_Comm parent;
  MPI_Init(NULL, NULL);
  MPI_Comm_get_parent(&parent);
  if (parent == MPI_COMM_NULL) exit(4);
  MPI_Send(&value, 1, MPI_INT, 0, 1, parent);
  MPI_Comm_disconnect(&parent);
  MPI_Finalize();
  exit(0);
}

static void open_port(int round) {
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Comm self, other;
  step();
  MPI_Comm_dup(MPI_COMM_SELF, &self);
  if (round == 0 && rank == 0) {
    MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, self, &other);
    MPI_Comm_disconnect(&other);
    MPI_Close_port(port);
  } else if (round == 0 && rank == 1) {
    MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, self, &other);
    MPI_Comm_disconnect(&other);
  }
  MPI_Comm_free(&self);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void session_init(int round) {
  MPI_Session session;
  MPI_Group group;
  MPI_Comm self;
  int members = -1, number = 0;
  step();
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Session_get_num_psets(session, MPI_INFO_NULL, &number);
  CHECK(number > 0);
  MPI_Group_from_session_pset(session, "mpi://SELF", &group);
  MPI_Comm_create_from_group(group, "plain", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &self);
  MPI_Comm_size(self, &members);
  CHECK(members == 1 && round >= 0);
  MPI_Group_free(&group);
  MPI_Comm_free(&self);
  MPI_Session_finalize(&session);
}

/* A message in two parts. */
static void psend_init(int round) {
  int sent[2] = {rank, round}, got[2] = {-1, -1};
  MPI_Request requests[2];
  step();
  MPI_Psend_init(sent, 2, 1, MPI_INT, (rank + 1) % size, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
  MPI_Precv_init(got, 2, 1, MPI_INT, (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
  MPI_Startall(2, requests);
  MPI_Pready(1, requests[0]);
  MPI_Pready(0, requests[0]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  CHECK(got[0] == (rank + size - 1) % size && got[1] == round);
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}

/* A communicator that is made while the program does something else. */
static void comm_idup(int round) {
  int sum = -1;
  MPI_Comm one;
  MPI_Request request;
  step();
  MPI_Comm_idup(MPI_COMM_WORLD, &one, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Allreduce(&round, &sum, 1, MPI_INT, MPI_SUM, one);
  CHECK(sum == size * round);
  MPI_Comm_free(&one);
}

static void comm_agree(int round) {
  int all = 7;
  step();
  MPIX_Comm_agree(MPI_COMM_WORLD, &all);
  CHECK(all == 7 && round >= 0);
}

static const struct Case cases[] = {{"win_create", win_create},
                                    {"win_allocate", win_allocate},
                                    {"win_allocate_shared", win_allocate_shared},
                                    {"win_create_dynamic", win_create_dynamic},
                                    {"file_open", file_open},
                                    {"intercomm_create", intercomm_create},
                                    {"comm_spawn", comm_spawn},
                                    {"open_port", open_port},
                                    {"session_init", session_init},
                                    {"psend_init", psend_init},
                                    {"comm_idup", comm_idup},
                                    {"comm_agree", comm_agree}};

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "child") == 0) be_child();
  snprintf(program, sizeof(program), "%s", argv[0]);
  return run_cases(argc, argv, cases, COUNT_OF(cases));
}
