/* SPDX-License-Identifier: BSD-3-Clause */
/* What else MPI has, beside messages: files of one process, requests of the program, threads, tools. */
#define _GNU_SOURCE

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "plain.h"

static void name_file(char* name, size_t length, const char* what) {
  /* All nodes see it: a rank that dies leaves a file behind. */
  const char* folder = getenv("PLAIN_FILES");
  snprintf(name, length, "%s/plain-%s.%d", folder ? folder : ".", what, rank);
}

/* Sends what a rank has read to the next one. */
static void pass_on(void* bytes, int count) {
  MPI_Sendrecv_replace(bytes, count, MPI_BYTE, (rank + 1) % size, 1, (rank + size - 1) % size, 1, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE);
}

/* A file of each process, on MPI_COMM_SELF. */
static void self_files(int round) {
  char name[4000], bytes[1000];
  int blocks[] = {2}, places[] = {1}, count = 0, words[4] = {rank, round, 5, 6}, got[2] = {-1, -1};
  MPI_Datatype type, spread;
  MPI_File file;
  MPI_Status status;
  MPI_Request request;
  MPI_Offset length = 0;
  name_file(name, sizeof(name), "self");
  step();
  CHECK(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file) == MPI_SUCCESS);
  fill(bytes, sizeof(bytes), rank, round);
  MPI_File_write_at(file, 0, bytes, sizeof(bytes), MPI_BYTE, &status);
  MPI_Get_count(&status, MPI_BYTE, &count);
  CHECK(count == sizeof(bytes));
  step();
  MPI_File_iwrite_at(file, 2000, words, 4, MPI_INT, &request);
  MPI_Wait(&request, &status);
  MPI_File_sync(file);
  MPI_File_get_size(file, &length);
  CHECK(length == 2000 + (MPI_Offset)sizeof(words));
  MPI_File_close(&file);
  step();
  memset(bytes, 0, sizeof(bytes));
  CHECK(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file) == MPI_SUCCESS);
  MPI_File_read_all(file, bytes, sizeof(bytes), MPI_BYTE, &status);
  pass_on(bytes, sizeof(bytes));
  expect(bytes, sizeof(bytes), (rank + size - 1) % size, round);
  /* Every second pair of words, by a view. */
  MPI_Type_indexed(1, blocks, places, MPI_INT, &spread);
  MPI_Type_create_resized(spread, 0, 4 * sizeof(int), &type);
  MPI_Type_commit(&type);
  MPI_File_set_view(file, 2000, MPI_INT, type, "native", MPI_INFO_NULL);
  MPI_File_read(file, got, 2, MPI_INT, &status);
  CHECK(got[0] == round && got[1] == 5);
  step();
  MPI_File_close(&file);
  MPI_Type_free(&type);
  MPI_Type_free(&spread);
  MPI_File_delete(name, MPI_INFO_NULL);
}

/* Files of C that are written anew, and lines of output. */
static void output(int round) {
  char name[4000], line[100] = "", wanted[100];
  int number = rank;
  FILE* file;
  name_file(name, sizeof(name), "output");
  step();
  file = fopen(name, "w");
  CHECK(file != NULL);
  fprintf(file, "rank %d, round %d\n", rank, round);
  step();
  fprintf(file, "and more\n");
  pass_on(&number, sizeof(number));
  fclose(file);
  step();
  printf("rank %d has written round %d\n", rank, round);
  fflush(stdout);
  file = fopen(name, "r");
  CHECK(file != NULL && fgets(line, sizeof(line), file) != NULL);
  fclose(file);
  snprintf(wanted, sizeof(wanted), "rank %d, round %d\n", rank, round);
  CHECK(strcmp(line, wanted) == 0);
  MPI_Barrier(MPI_COMM_WORLD);
  remove(name);
}

static int asked, freed, cancelled;

static int query(void* extra, MPI_Status* status) {
  ++asked;
  MPI_Status_set_elements(status, MPI_INT, *(int*)extra);
  MPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = 5;
  return MPI_SUCCESS;
}

static int release(void* extra) {
  (void)extra;
  ++freed;
  return MPI_SUCCESS;
}

static int stop(void* extra, int complete) {
  (void)extra;
  cancelled += 1 + complete;
  return MPI_SUCCESS;
}

/* Requests that the program makes and completes itself, waited for together with messages. */
static void grequests(int round) {
  int value = round + 3, got = -1, count = 0, flag = 0, index = -1;
  MPI_Request requests[3];
  MPI_Status statuses[3], status;
  asked = freed = cancelled = 0;
  MPI_Grequest_start(query, release, stop, &value, &requests[0]);
  MPI_Irecv(&got, 1, MPI_INT, (rank + size - 1) % size, 2, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(&round, 1, MPI_INT, (rank + 1) % size, 2, MPI_COMM_WORLD, &requests[2]);
  step();
  MPI_Test(&requests[0], &flag, &status);
  CHECK(!flag);
  MPI_Grequest_complete(requests[0]);
  step();
  MPI_Waitall(3, requests, statuses);
  MPI_Get_count(&statuses[0], MPI_INT, &count);
  CHECK(count == round + 3 && statuses[0].MPI_TAG == 5 && got == round && asked == 1 && freed == 1);
  MPI_Grequest_start(query, release, stop, &value, &requests[0]);
  MPI_Cancel(&requests[0]);
  MPI_Grequest_complete(requests[0]);
  MPI_Waitany(1, requests, &index, &status);
  CHECK(index == 0 && freed == 2 && cancelled == 1 && requests[0] == MPI_REQUEST_NULL);
  step();
  MPI_Barrier(MPI_COMM_WORLD);
}

/* The interface for tools. */
static void tools(int round) {
  int provided = -1, number = -1, verbosity, binding, scope, length = 100, description = 100, count = 0, value = -1;
  char name[100], text[100];
  MPI_Datatype type;
  MPI_T_enum members;
  MPI_T_cvar_handle handle;
  CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS);
  MPI_T_cvar_get_num(&number);
  CHECK(number > 0);
  step();
  CHECK(MPI_T_cvar_get_info(0, name, &length, &verbosity, &type, &members, text, &description, &binding, &scope) ==
        MPI_SUCCESS);
  if (MPI_T_cvar_get_index("mpi_yield_when_idle", &number) == MPI_SUCCESS &&
      MPI_T_cvar_handle_alloc(number, NULL, &handle, &count) == MPI_SUCCESS) {
    MPI_T_cvar_read(handle, &value);
    CHECK(count == 1 && value != -1);
    MPI_T_cvar_handle_free(&handle);
  }
  MPI_T_pvar_get_num(&number);
  CHECK(number >= 0);
  MPI_Pcontrol(1);
  MPI_Pcontrol(2, "region");
  pass_on(&round, sizeof(round));
  step();
  MPI_Pcontrol(0);
  MPI_T_finalize();
  MPI_Barrier(MPI_COMM_WORLD);
}

/* Info, memory of MPI, and questions about the process: their answers go to no other rank. */
static void small_things(int round) {
  char text[MPI_MAX_PROCESSOR_NAME + MPI_MAX_LIBRARY_VERSION_STRING], value[20] = "";
  int length = 0, flag = 0, version = 0, subversion = 0;
  double* memory = NULL;
  const double begin = MPI_Wtime();
  MPI_Info info, copy;
  MPI_Get_processor_name(text, &length);
  CHECK(length > 0);
  MPI_Get_library_version(text, &length);
  MPI_Get_version(&version, &subversion);
  CHECK(version >= 3);
  MPI_Alloc_mem(100 * sizeof(double), MPI_INFO_NULL, &memory);
  memory[99] = round;
  pass_on(memory + 99, sizeof(double));
  step();
  CHECK(memory[99] == round);
  MPI_Free_mem(memory);
  MPI_Info_create(&info);
  MPI_Info_set(info, "key", "value");
  MPI_Info_dup(info, &copy);
  MPI_Info_get(copy, "key", 10, value, &flag);
  CHECK(flag && strcmp(value, "value") == 0);
  MPI_Info_free(&info);
  MPI_Info_free(&copy);
  step();
  CHECK(MPI_Wtime() >= begin && MPI_Wtick() > 0);
  MPI_Initialized(&flag);
  CHECK(flag);
  MPI_Finalized(&flag);
  CHECK(!flag);
  MPI_Barrier(MPI_COMM_WORLD);
}

static int level; /* of threads, as MPI_Init_thread has said */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static int results[3];

/* Exchanges numbers with the same thread of another rank. */
static void* work(void* number) {
  const int own = (int)(long)number;
  int i, value = 100 * rank + own;
  MPI_Request requests[2];
  for (i = 0; i < 20; ++i) {
    int got = -1, done = 0;
    if (level < MPI_THREAD_MULTIPLE) pthread_mutex_lock(&turn);
    MPI_Irecv(&got, 1, MPI_INT, (rank + size - 1) % size, own, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&value, 1, MPI_INT, (rank + 1) % size, own, MPI_COMM_WORLD, &requests[1]);
    if (level < MPI_THREAD_MULTIPLE) pthread_mutex_unlock(&turn);
    while (!done) {
      if (level < MPI_THREAD_MULTIPLE) pthread_mutex_lock(&turn);
      MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE);
      if (level < MPI_THREAD_MULTIPLE) pthread_mutex_unlock(&turn);
    }
    value = got + 1;
  }
  results[own] = value;
  return NULL;
}

/* Threads that take turns, unless MPI lets them call it at the same time. */
static void threads(int round) {
  pthread_t others[3];
  int i, wanted;
  int is_main = 0;
  (void)round;
  MPI_Query_thread(&i);
  MPI_Is_thread_main(&is_main);
  CHECK(i == level && is_main && level >= MPI_THREAD_SERIALIZED);
  step();
  for (i = 0; i < 3; ++i) CHECK(pthread_create(&others[i], NULL, work, (void*)(long)i) == 0);
  for (i = 0; i < 3; ++i) pthread_join(others[i], NULL);
  step();
  wanted = ((rank - 20) % size + size) % size;
  for (i = 0; i < 3; ++i) CHECK(results[i] == 100 * wanted + i + 20);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* One rank ends the job while others wait. */
static void aborts(int round) {
  step();
  if (round == 2 && rank == 1) MPI_Abort(MPI_COMM_WORLD, 7);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* Sends what no replacement has again: the number of the process. */
static void process_numbers(int round) {
  int value = (int)getpid(), got = -1;
  step();
  MPI_Sendrecv(&value, 1, MPI_INT, (rank + 1) % size, 1, &got, 1, MPI_INT, (rank + size - 1) % size, 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Sendrecv_replace(&got, 1, MPI_INT, (rank + size - 1) % size, 2, (rank + 1) % size, 2, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE);
  CHECK(got == value && round >= 0);
}

/* Rank 0 reads a number from its input, and gives it to all. */
static void input(int round) {
  static int number = -1;
  if (round == 0) {
    step();
    if (rank == 0 && scanf("%d", &number) != 1) {
      printf("rank 0 has no input\n");
      fflush(stdout);
      MPI_Abort(MPI_COMM_WORLD, 9);
    }
    MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  step();
  CHECK(number == 4711);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* Called by exit(): adds up something, and ends MPI. */
static void sum_up_and_end(void) {
  int i, sum = -1, got = -1, which = -1;
  for (i = 0; i < 20; ++i) {
    MPI_Request requests[2];
    const int value = rank + i;
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == size * (size - 1) / 2 + size * i);
    MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&value, 1, MPI_INT, (rank + 1) % size, i, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitany(2, requests, &which, MPI_STATUS_IGNORE);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(got == (rank + size - 1) % size + i);
  }
  say_well();
  MPI_Finalize();
}

/* A program that ends MPI in a function of atexit(). */
static void at_exit(int round) {
  int sum = -1;
  if (round == 0) atexit(sum_up_and_end);
  MPI_Allreduce(&round, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(sum == size * round);
  step();
  if (round + 1 == rounds) exit(0);
}

/* Rank 1 has two arguments more. */
static void other_arguments(int round) {
  step();
  CHECK(round >= 0);
  MPI_Barrier(MPI_COMM_WORLD);
}

static const struct Case cases[] = {{"self_files", self_files},
                                    {"output", output},
                                    {"grequests", grequests},
                                    {"tools", tools},
                                    {"small_things", small_things},
                                    {"threads", threads},
                                    {"aborts", aborts},
                                    {"process_numbers", process_numbers},
                                    {"input", input},
                                    {"at_exit", at_exit},
                                    {"other_arguments", other_arguments}};

int main(int argc, char** argv) {
  const char* process = getenv("PMIX_RANK");
  if (argc == 2 && strcmp(argv[1], "other_arguments") == 0 && process != NULL && strcmp(process, "1") == 0) {
    char* const more[] = {argv[0], argv[1], "--rounds", "4", NULL};
    execv("/proc/self/exe", more);
  }
  if (argc > 1 && strcmp(argv[1], "threads") == 0) {
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  } else {
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  }
  return run_cases(argc, argv, cases, COUNT_OF(cases));
}
