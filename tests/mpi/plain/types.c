/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that do not lie in memory in one piece. */
#include "plain.h"

#include <unistd.h>

enum { SIDE = 12 };

static int right(void) { return (rank + 1) % size; }
static int left(void) { return (rank + size - 1) % size; }

/* Sends one element of a type, and receives one of another type with as many bytes. */
static void exchange(const void* sent, int sent_count, MPI_Datatype sent_type, void* got, int got_count,
                     MPI_Datatype got_type, int tag) {
  MPI_Request request;
  step();
  MPI_Irecv(got, got_count, got_type, left(), tag, MPI_COMM_WORLD, &request);
  MPI_Send(sent, sent_count, sent_type, right(), tag, MPI_COMM_WORLD);
  step();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static double value_of(int from, int round, int i, int j) { return from + 0.5 * round + 0.01 * i + 0.0001 * j; }

static void set_matrix(double matrix[SIDE][SIDE], int round) {
  int i, j;
  for (i = 0; i < SIDE; ++i) {
    for (j = 0; j < SIDE; ++j) matrix[i][j] = value_of(rank, round, i, j);
  }
}

/* A column of a matrix goes to another column, and then to a row. */
static void column(int round) {
  double matrix[SIDE][SIDE], other[SIDE][SIDE], row[SIDE];
  MPI_Datatype type;
  int i, j;
  set_matrix(matrix, round);
  memset(other, 0, sizeof(other));
  MPI_Type_vector(SIDE, 1, SIDE, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  exchange(&matrix[0][3], 1, type, &other[0][5], 1, type, 1);
  for (i = 0; i < SIDE; ++i) {
    for (j = 0; j < SIDE; ++j) CHECK(other[i][j] == (j == 5 ? value_of(left(), round, i, 3) : 0));
  }
  exchange(&matrix[0][SIDE - 1], 1, type, row, SIDE, MPI_DOUBLE, 2);
  for (i = 0; i < SIDE; ++i) CHECK(row[i] == value_of(left(), round, i, SIDE - 1));
  MPI_Sendrecv_replace(&matrix[0][7], 1, type, right(), 3, left(), 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (i = 0; i < SIDE; ++i)
    CHECK(matrix[i][7] == value_of(left(), round, i, 7) && matrix[i][6] == value_of(rank, round, i, 6));
  MPI_Type_free(&type);
}

/* Blocks of different lengths, in an order that is not that of memory. */
static void indexed(int round) {
  const int lengths[] = {2, 0, 3, 1}, places[] = {9, 1, 4, 0};
  const MPI_Aint bytes[] = {9 * sizeof(int), sizeof(int), 4 * sizeof(int), 0};
  int sent[12], got[12], i, form;
  for (form = 0; form < 4; ++form) {
    MPI_Datatype type;
    static const int moved[] = {9, 10, 4, 5, 6, 0};
    int count = 6;
    if (form == 0) MPI_Type_indexed(4, lengths, places, MPI_INT, &type);
    if (form == 1) MPI_Type_create_hindexed(4, lengths, bytes, MPI_INT, &type);
    if (form == 2) MPI_Type_create_indexed_block(4, 1, places, MPI_INT, &type);
    if (form == 3) MPI_Type_create_hindexed_block(4, 1, bytes, MPI_INT, &type);
    MPI_Type_commit(&type);
    for (i = 0; i < 12; ++i) {
      sent[i] = 1000 * rank + 100 * round + i;
      got[i] = -1;
    }
    if (form >= 2) count = 4;
    exchange(sent, 1, type, got, count, MPI_INT, form);
    for (i = 0; i < count; ++i) CHECK(got[i] == 1000 * left() + 100 * round + (form < 2 ? moved[i] : places[i]));
    for (i = 0; i < 12; ++i) got[i] = -1;
    exchange(sent, 1, type, got, 1, type, form);
    for (i = 0; i < count; ++i) {
      const int place = form < 2 ? moved[i] : places[i];
      CHECK(got[place] == 1000 * left() + 100 * round + place);
    }
    CHECK(got[2] == -1 && got[11] == -1);
    MPI_Type_free(&type);
  }
}

struct Particle {
  char kind;
  double place[3];
  int neighbours[2];
  short charge;
};

/* An array of structures, whose type has the extent of the structure. */
static void structures(int round) {
  struct Particle sent[5], got[5];
  const int lengths[] = {1, 3, 2, 1};
  const MPI_Aint places[] = {offsetof(struct Particle, kind), offsetof(struct Particle, place),
                             offsetof(struct Particle, neighbours), offsetof(struct Particle, charge)};
  const MPI_Datatype types[] = {MPI_CHAR, MPI_DOUBLE, MPI_INT, MPI_SHORT};
  MPI_Datatype packed, type;
  MPI_Status status;
  int i, count = 0;
  MPI_Type_create_struct(4, lengths, places, types, &packed);
  MPI_Type_create_resized(packed, 0, sizeof(struct Particle), &type);
  MPI_Type_commit(&type);
  MPI_Type_free(&packed);
  memset(got, 0, sizeof(got));
  for (i = 0; i < 5; ++i) {
    sent[i].kind = (char)('a' + i);
    sent[i].place[0] = value_of(rank, round, i, 0);
    sent[i].place[1] = value_of(rank, round, i, 1);
    sent[i].place[2] = value_of(rank, round, i, 2);
    sent[i].neighbours[0] = rank;
    sent[i].neighbours[1] = round;
    sent[i].charge = (short)i;
  }
  step();
  MPI_Sendrecv(sent, 5, type, right(), 1, got, 5, type, left(), 1, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, type, &count);
  CHECK(count == 5);
  for (i = 0; i < 5; ++i) {
    CHECK(got[i].kind == 'a' + i && got[i].place[2] == value_of(left(), round, i, 2) && got[i].neighbours[0] == left());
    CHECK(got[i].place[0] == value_of(left(), round, i, 0) && got[i].neighbours[1] == round && got[i].charge == i);
  }
  /* The end of an element alone is no whole one. */
  step();
  MPI_Sendrecv(&sent[0].kind, 1, MPI_CHAR, right(), 2, got, 5, type, left(), 2, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, type, &count);
  CHECK(count == MPI_UNDEFINED);
  MPI_Get_elements(&status, type, &count);
  CHECK(count == 1 && got[0].kind == 'a');
  MPI_Type_free(&type);
}

/* The inner part of an array with two dimensions, and rows that are dealt out. */
static void subarrays(int round) {
  const int sizes[] = {SIDE, SIDE}, inner[] = {SIDE - 4, SIDE - 2}, starts[] = {2, 1};
  const int cyclic[] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE},
            arguments[] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG};
  const int grid[] = {2, 1};
  double matrix[SIDE][SIDE], other[SIDE][SIDE];
  MPI_Datatype type;
  int i, j, bytes = 0;
  set_matrix(matrix, round);
  memset(other, 0, sizeof(other));
  MPI_Type_create_subarray(2, sizes, inner, starts, MPI_ORDER_C, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  exchange(matrix, 1, type, other, 1, type, 1);
  MPI_Type_free(&type);
  for (i = 0; i < SIDE; ++i) {
    for (j = 0; j < SIDE; ++j) {
      const int is_inner = i >= 2 && i < SIDE - 2 && j >= 1 && j < SIDE - 1;
      CHECK(other[i][j] == (is_inner ? value_of(left(), round, i, j) : 0));
    }
  }
  memset(other, 0, sizeof(other));
  MPI_Type_create_darray(2, 1, 2, sizes, cyclic, arguments, grid, MPI_ORDER_C, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  MPI_Type_size(type, &bytes);
  CHECK(bytes == SIDE / 2 * SIDE * (int)sizeof(double));
  exchange(matrix, 1, type, other, 1, type, 2);
  MPI_Type_free(&type);
  for (i = 0; i < SIDE; ++i) {
    for (j = 0; j < SIDE; ++j) CHECK(other[i][j] == (i % 2 == 1 ? value_of(left(), round, i, j) : 0));
  }
}

/* Columns as elements: a type whose extent is that of one number. */
static void resized(int round) {
  double matrix[SIDE][SIDE], other[SIDE][SIDE];
  MPI_Datatype tall, type;
  int i, j;
  set_matrix(matrix, round);
  MPI_Type_vector(SIDE, 1, SIDE, MPI_DOUBLE, &tall);
  MPI_Type_create_resized(tall, 0, sizeof(double), &type);
  MPI_Type_commit(&type);
  exchange(matrix, SIDE, type, other, SIDE * SIDE, MPI_DOUBLE, 1);
  for (i = 0; i < SIDE; ++i) {
    for (j = 0; j < SIDE; ++j) CHECK(other[j][i] == value_of(left(), round, i, j));
  }
  MPI_Type_free(&type);
  MPI_Type_free(&tall);
}

/* Types without bytes, and with bounds that are not those of their data. */
static void strange(int round) {
  const int none[] = {0, 0}, two[] = {2, 1}, back[] = {0, -3};
  MPI_Datatype empty, types[4];
  int sent[8], got[8], i, count = -1;
  MPI_Status status;
  for (i = 0; i < 8; ++i) {
    sent[i] = 100 * rank + 10 * round + i;
    got[i] = -1;
  }
  MPI_Type_contiguous(0, MPI_INT, &empty);
  MPI_Type_commit(&empty);
  step();
  MPI_Sendrecv(sent, 5, empty, right(), 1, got, 5, empty, left(), 1, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, empty, &count);
  CHECK(got[0] == -1 && (count == 0 || count == MPI_UNDEFINED));
  MPI_Type_indexed(2, none, back, MPI_INT, &types[0]); /* no block has a length */
  MPI_Type_indexed(2, two, back, MPI_INT, &types[1]);  /* begins before its address */
  MPI_Type_vector(3, 1, -2, MPI_INT, &types[2]);       /* goes back in memory */
  MPI_Type_dup(MPI_INT, &types[3]);
  for (i = 0; i < 4; ++i) MPI_Type_commit(&types[i]);
  exchange(sent, 1, types[0], got, 1, types[0], 2);
  CHECK(got[0] == -1);
  exchange(sent + 4, 1, types[1], got + 4, 1, types[1], 3);
  CHECK(got[4] == 100 * left() + 10 * round + 4 && got[5] == got[4] + 1 && got[1] == got[4] - 3 && got[3] == -1);
  exchange(sent + 6, 1, types[2], got, 3, MPI_INT, 4);
  CHECK(got[0] == 100 * left() + 10 * round + 6 && got[1] == got[0] - 2 && got[2] == got[0] - 4);
  exchange(sent, 8, types[3], got, 8, MPI_INT, 5);
  CHECK(got[7] == 100 * left() + 10 * round + 7);
  for (i = 0; i < 4; ++i) MPI_Type_free(&types[i]);
  MPI_Type_free(&empty);
}

/* Types that are freed while messages of them are under way. */
static void freed(int round) {
  double matrix[SIDE][SIDE], other[SIDE][SIDE];
  MPI_Datatype row, type;
  MPI_Request requests[4];
  int i;
  set_matrix(matrix, round);
  memset(other, 0, sizeof(other));
  MPI_Type_contiguous(2, MPI_DOUBLE, &row);
  MPI_Type_vector(SIDE, 1, SIDE / 2, row, &type);
  MPI_Type_commit(&type);
  MPI_Type_free(&row);
  MPI_Irecv(&other[0][2], 1, type, left(), 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Recv_init(&other[0][4], 1, type, left(), 2, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(&matrix[0][2], 1, type, right(), 1, MPI_COMM_WORLD, &requests[2]);
  MPI_Send_init(&matrix[0][4], 1, type, right(), 2, MPI_COMM_WORLD, &requests[3]);
  MPI_Type_free(&type);
  step();
  MPI_Startall(1, &requests[1]);
  MPI_Startall(1, &requests[3]);
  step();
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  MPI_Request_free(&requests[1]);
  MPI_Request_free(&requests[3]);
  for (i = 0; i < SIDE; ++i) {
    CHECK(other[i][3] == value_of(left(), round, i, 3) && other[i][5] == value_of(left(), round, i, 5));
    CHECK(other[i][0] == 0 && other[i][6] == 0);
  }
}

/* Fills memory that was freed with other types. */
static void make_others(MPI_Datatype* others, int count) {
  int i;
  for (i = 0; i < count; ++i) {
    MPI_Type_vector(4, 1, 5 + i, MPI_INT, &others[i]);
    MPI_Type_commit(&others[i]);
  }
}

/* Types that are freed before their requests begin, or have their message, and whose handles would be those of other types. */
static void reused(int round) {
  enum { OTHERS = 20, TURNS = 5 };
  MPI_Datatype others[OTHERS], type;
  MPI_Request requests[3];
  int sent[16], got[16], sums[16], turn, i, count;
  for (turn = 0; turn < TURNS; ++turn) {
    for (i = 0; i < 16; ++i) sent[i] = 1000 * rank + 100 * round + i;
    memset(got, 0xff, sizeof(got));
    memset(sums, 0xff, sizeof(sums));
    MPI_Type_vector(4, 1, 3, MPI_INT, &type);
    MPI_Type_commit(&type);
    count = 2;
    if (turn == 0) {
      MPI_Send_init(sent, 1, type, right(), 1, MPI_COMM_WORLD, &requests[0]);
      MPI_Recv_init(got, 1, type, left(), 1, MPI_COMM_WORLD, &requests[1]);
    } else if (turn == 1) {
      MPI_Send_init(sent, 1, type, right(), 1, MPI_COMM_WORLD, &requests[0]);
      MPI_Recv_init(got, 1, type, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &requests[1]);
    } else if (turn == 2) {
      MPI_Irecv(got, 1, type, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &requests[1]);
    } else if (turn == 3) {
      MPI_Irecv(got, 1, type, left(), 1, MPI_COMM_WORLD, &requests[1]);
    } else {
      MPI_Irecv(got, 1, type, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &requests[1]);
      MPI_Ibcast(sums, 1, type, 0, MPI_COMM_WORLD, &requests[2]);
      count = 3;
    }
    MPI_Type_free(&type);
    CHECK(type == MPI_DATATYPE_NULL);
    make_others(others, OTHERS);
    step();
    if (turn < 2) {
      MPI_Startall(2, requests);
    } else {
      for (i = 0; i < 4; ++i) sent[i] = sent[3 * i];
      MPI_Isend(sent, 4, MPI_INT, right(), 1, MPI_COMM_WORLD, &requests[0]);
    }
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    for (i = 0; i < 4; ++i) CHECK(got[3 * i] == 1000 * left() + 100 * round + 3 * i);
    CHECK(got[1] == -1 && got[2] == -1 && got[10] == -1);
    for (i = 0; turn < 2 && i < 2; ++i) MPI_Request_free(&requests[i]);
    for (i = 0; i < OTHERS; ++i) MPI_Type_free(&others[i]);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

/* Addresses from MPI_Get_address, without a buffer. */
static void bottom(int round) {
  int first = 10 * rank + round, got_first = -1;
  double second[3] = {rank, round, 0.25}, got_second[3] = {-1, -1, -1};
  const int lengths[] = {1, 3};
  const MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE};
  MPI_Aint places[2];
  MPI_Datatype from, to;
  MPI_Request requests[4];
  MPI_Status status;
  int turn, i;
  MPI_Get_address(&first, &places[0]);
  MPI_Get_address(second, &places[1]);
  MPI_Type_create_struct(2, lengths, places, types, &from);
  MPI_Type_commit(&from);
  MPI_Get_address(&got_first, &places[0]);
  MPI_Get_address(got_second, &places[1]);
  MPI_Type_create_struct(2, lengths, places, types, &to);
  MPI_Type_commit(&to);
  for (turn = 0; turn < 5; ++turn) {
    got_first = -1;
    got_second[2] = -1;
    if (turn == 0) exchange(MPI_BOTTOM, 1, from, MPI_BOTTOM, 1, to, 1);
    if (turn == 1)
      MPI_Sendrecv(MPI_BOTTOM, 1, from, right(), 2, MPI_BOTTOM, 1, to, left(), 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (turn == 2) {
      MPI_Recv_init(MPI_BOTTOM, 1, to, left(), 3, MPI_COMM_WORLD, &requests[0]);
      MPI_Send_init(MPI_BOTTOM, 1, from, right(), 3, MPI_COMM_WORLD, &requests[1]);
      step();
      MPI_Startall(2, requests);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
      for (i = 0; i < 2; ++i) MPI_Request_free(&requests[i]);
    }
    if (turn == 3) {
      MPI_Isend(MPI_BOTTOM, 1, from, right(), 4, MPI_COMM_WORLD, &requests[0]);
      step();
      MPI_Probe(MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &status);
      MPI_Recv(MPI_BOTTOM, 1, to, status.MPI_SOURCE, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    }
    if (turn == 4) {
      /* All get what rank 0 has. */
      step();
      MPI_Bcast(MPI_BOTTOM, 1, rank == 0 ? from : to, 0, MPI_COMM_WORLD);
      if (rank != 0) CHECK(got_first == round && got_second[0] == 0);
      continue;
    }
    CHECK(got_first == 10 * left() + round && got_second[0] == left() && got_second[1] == round &&
          got_second[2] == 0.25);
  }
  MPI_Type_free(&from);
  MPI_Type_free(&to);
}

/* Messages that the program packs itself. */
static void packed(int round) {
  char buffer[200];
  double numbers[4] = {rank, round, 1.5, -3};
  int place = 0, count = 4, got = 0, bytes = 0;
  MPI_Status status;
  MPI_Pack_size(4, MPI_DOUBLE, MPI_COMM_WORLD, &bytes);
  CHECK(bytes >= 32);
  MPI_Pack(&count, 1, MPI_INT, buffer, sizeof(buffer), &place, MPI_COMM_WORLD);
  MPI_Pack(numbers, 4, MPI_DOUBLE, buffer, sizeof(buffer), &place, MPI_COMM_WORLD);
  step();
  MPI_Sendrecv_replace(buffer, place, MPI_PACKED, right(), 1, left(), 1, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_PACKED, &bytes);
  CHECK(bytes == place);
  place = 0;
  MPI_Unpack(buffer, bytes, &place, &got, 1, MPI_INT, MPI_COMM_WORLD);
  MPI_Unpack(buffer, bytes, &place, numbers, got, MPI_DOUBLE, MPI_COMM_WORLD);
  CHECK(got == 4 && numbers[0] == left() && numbers[1] == round && numbers[3] == -3);
}

/* Collective functions with such types. */
static void collective(int round) {
  double matrix[SIDE][SIDE];
  double* columns = malloc(sizeof(double) * SIDE * (size_t)size);
  int *counts = malloc(sizeof(int) * (size_t)size), *places = malloc(sizeof(int) * (size_t)size);
  MPI_Datatype tall, column_type, spread;
  int i, j;
  set_matrix(matrix, round);
  MPI_Type_vector(SIDE, 1, SIDE, MPI_DOUBLE, &column_type);
  MPI_Type_vector(SIDE, 1, size, MPI_DOUBLE, &tall);
  MPI_Type_create_resized(tall, 0, sizeof(double), &spread);
  MPI_Type_commit(&column_type);
  MPI_Type_commit(&spread);
  step();
  /* Column 4 of each rank becomes a column of one array. */
  MPI_Allgather(&matrix[0][4], 1, column_type, columns, 1, spread, MPI_COMM_WORLD);
  for (i = 0; i < SIDE; ++i) {
    for (j = 0; j < size; ++j) CHECK(columns[i * size + j] == value_of(j, round, i, 4));
  }
  memset(columns, 0, sizeof(double) * SIDE * (size_t)size);
  for (j = 0; j < size; ++j) {
    counts[j] = 1;
    places[j] = size - 1 - j;
  }
  step();
  MPI_Gatherv(&matrix[0][2], 1, column_type, columns, counts, places, spread, size - 1, MPI_COMM_WORLD);
  for (i = 0; i < SIDE && rank == size - 1; ++i) {
    for (j = 0; j < size; ++j) CHECK(columns[i * size + size - 1 - j] == value_of(j, round, i, 2));
  }
  step();
  MPI_Bcast(&matrix[0][9], 1, column_type, size - 1, MPI_COMM_WORLD);
  for (i = 0; i < SIDE; ++i)
    CHECK(matrix[i][9] == value_of(size - 1, round, i, 9) && matrix[i][8] == value_of(rank, round, i, 8));
  MPI_Type_free(&column_type);
  MPI_Type_free(&tall);
  MPI_Type_free(&spread);
  free(columns);
  free(counts);
  free(places);
}

/* More bytes than an int counts, as elements of a large type. */
static void huge(int round) {
  const size_t bytes = 2300UL << 20;
  const int count = (int)(bytes >> 20);
  char* memory = malloc(bytes);
  MPI_Datatype type;
  MPI_Status status;
  size_t at;
  int got = 0;
  MPI_Count elements = 0;
  MPI_Type_contiguous(1 << 20, MPI_CHAR, &type);
  MPI_Type_commit(&type);
  memset(memory, rank == 0 ? 1 : 0, bytes);
  for (at = 0; at < bytes && rank == 0; at += 4096) memory[at] = (char)(at / 4096 * 31 + (size_t)round);
  step();
  if (rank == 0) MPI_Send(memory, count, type, 1, 1, MPI_COMM_WORLD);
  if (rank == 1) {
    MPI_Recv(memory, count, type, 0, 1, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, type, &got);
    MPI_Get_elements_x(&status, type, &elements);
    CHECK(got == count && elements == (MPI_Count)bytes);
    for (at = 0; at < bytes; at += 4096)
      CHECK(memory[at] == (char)(at / 4096 * 31 + (size_t)round) && memory[at + 4095] == 1);
    memset(memory, 0, bytes);
  }
  step();
  MPI_Bcast(memory, count, type, 0, MPI_COMM_WORLD);
  for (at = 0; at < bytes; at += 4096)
    CHECK(memory[at] == (char)(at / 4096 * 31 + (size_t)round) && memory[at + 4095] == 1);
  MPI_Type_free(&type);
  free(memory);
}

/* Memory of this process that is not shared, in kB. */
static long private_memory(void) {
  long pages = 0, shared = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%*d %ld %ld", &pages, &shared) != 2) pages = shared = 0;
  if (file != NULL) fclose(file);
  return (pages - shared) * (sysconf(_SC_PAGESIZE) / 1024);
}

/* Many types, each of which is made for one message: nothing of them stays. */
static void many(int round) {
  enum { MOST = 4000, ALLOWED = 4000 };
  int matrix[4] = {0, 0, 0, 0}, i;
  long before = 0;
  for (i = 0; i < 2 * MOST; ++i) {
    MPI_Datatype column;
    if (i == MOST) before = private_memory();
    MPI_Type_vector(2, 1, 2, MPI_INT, &column);
    MPI_Type_commit(&column);
    matrix[0] = matrix[2] = rank == 0 ? i + round : -1;
    if (rank == 0) MPI_Send(matrix, 1, column, 1, 1, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(matrix, 1, column, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(rank > 1 || matrix[2] == i + round);
    MPI_Type_free(&column);
    if (i % MOST == 0) step();
  }
  CHECK(private_memory() - before < ALLOWED);
}

static const struct Case cases[] = {
    {"column", column},   {"indexed", indexed},       {"structures", structures}, {"subarrays", subarrays},
    {"resized", resized}, {"strange", strange},       {"freed", freed},           {"reused", reused},
    {"bottom", bottom},   {"collective", collective}, {"packed", packed},         {"huge", huge},
    {"many", many}};

int main(int argc, char** argv) { return run_cases(argc, argv, cases, COUNT_OF(cases)); }
