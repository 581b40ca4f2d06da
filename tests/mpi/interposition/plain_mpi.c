// SPDX-License-Identifier: BSD-3-Clause
// A program that is linked with MPI only. It calls functions of each kind, and gets the same results with libfenix_mpi preloaded.
// usage: plain_mpi [LIBRARY]   starts itself anew with LIBRARY preloaded
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int rank = -1;
static int size = -1;

static void check(int holds, const char* what) {
  if (holds) return;
  printf("FENIX-TEST-FAIL rank %d: %s\n", rank, what);
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static void messages(MPI_Comm comm) {
  int next = (rank + 1) % size;
  int previous = (rank + size - 1) % size;
  int got = -1;
  MPI_Status status;
  MPI_Sendrecv(&rank, 1, MPI_INT, next, 1, &got, 1, MPI_INT, previous, 1, comm, &status);
  check(got == previous && status.MPI_SOURCE == previous, "Sendrecv");
  got = rank;
  MPI_Sendrecv_replace(&got, 1, MPI_INT, next, 2, previous, 2, comm, MPI_STATUS_IGNORE);
  check(got == previous, "Sendrecv_replace");
  MPI_Request requests[2];
  MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 3, comm, &requests[0]);
  MPI_Issend(&rank, 1, MPI_INT, next, 3, comm, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  check(got == previous && requests[0] == MPI_REQUEST_NULL, "Irecv and Issend");
  MPI_Request persistent[2];
  MPI_Send_init(&rank, 1, MPI_INT, next, 4, comm, &persistent[0]);
  MPI_Recv_init(&got, 1, MPI_INT, previous, 4, comm, &persistent[1]);
  for (int i = 0; i < 2; ++i) {
    got = -1;
    MPI_Startall(2, persistent);
    MPI_Waitall(2, persistent, MPI_STATUSES_IGNORE);
    check(got == previous, "persistent requests");
  }
  MPI_Request_free(&persistent[0]);
  MPI_Request_free(&persistent[1]);
  MPI_Message message;
  MPI_Send(&rank, 1, MPI_INT, next, 5, comm);
  MPI_Mprobe(previous, 5, comm, &message, MPI_STATUS_IGNORE);
  MPI_Mrecv(&got, 1, MPI_INT, &message, &status);
  check(got == previous, "Mprobe and Mrecv");
}

static void collectives(MPI_Comm comm) {
  int sum = 0;
  int all[64];
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  check(sum == size * (size - 1) / 2, "Allreduce");
  MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, comm);
  for (int i = 0; i < size; ++i) check(all[i] == i, "Allgather");
  int root = rank == 0 ? 77 : 0;
  MPI_Request request;
  MPI_Ibcast(&root, 1, MPI_INT, 0, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check(root == 77, "Ibcast");
  MPI_Barrier(comm);
}

static int copied = 0;

static int copy(MPI_Comm comm, int keyval, void* extra, void* in, void* out, int* flag) {
  (void)comm, (void)keyval, (void)extra;
  ++copied;
  *(void**)out = in;
  *flag = 1;
  return MPI_SUCCESS;
}

static void communicators(void) {
  int keyval = MPI_KEYVAL_INVALID;
  int value = 5;
  int* found = NULL;
  int flag = 0;
  MPI_Comm dup, half, cart, row;
  MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
  MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, &value);
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  MPI_Comm_get_attr(dup, keyval, &found, &flag);
  check(copied == 1 && flag && found == &value, "attributes of a copy");
  int same = -1;
  MPI_Comm_compare(dup, MPI_COMM_WORLD, &same);
  check(same == MPI_CONGRUENT, "Comm_compare");
  MPI_Comm_split(dup, rank % 2, -rank, &half);
  int half_rank = -1, half_size = -1;
  MPI_Comm_rank(half, &half_rank);
  MPI_Comm_size(half, &half_size);
  check(half_rank == half_size - 1 - rank / 2, "rank after Comm_split");
  int dims[1] = {size}, periods[1] = {1}, remain[1] = {1}, at = -1;
  MPI_Cart_create(dup, 1, dims, periods, 0, &cart);
  MPI_Cart_coords(cart, rank, 1, &at);
  check(at == rank, "Cart_coords");
  MPI_Cart_sub(cart, remain, &row);
  collectives(row);
  messages(cart);
  MPI_Group all, first, back;
  MPI_Comm_group(dup, &all);
  int zero = 0, translated = -1;
  MPI_Group_incl(all, 1, &zero, &first);
  MPI_Group_translate_ranks(first, 1, &zero, all, &translated);
  check(translated == 0, "Group_translate_ranks");
  back = MPI_Group_f2c(MPI_Group_c2f(all));
  MPI_Group_compare(back, all, &same);
  check(same == MPI_IDENT, "Group_f2c");
  MPI_Comm alone;
  MPI_Comm_create(dup, first, &alone);
  check((alone != MPI_COMM_NULL) == (rank == 0), "Comm_create");
  if (alone != MPI_COMM_NULL) MPI_Comm_free(&alone);
  MPI_Group_free(&first);
  MPI_Group_free(&all);
  MPI_Comm_set_errhandler(dup, MPI_ERRORS_RETURN);
  check(MPI_Send(&rank, 1, MPI_INT, size, 0, dup) != MPI_SUCCESS, "a send to a rank that is not there");
  check(MPI_Comm_f2c(MPI_Comm_c2f(dup)) == dup, "Comm_f2c");
  MPI_Comm_free(&row);
  MPI_Comm_free(&cart);
  MPI_Comm_free(&half);
  MPI_Comm_free(&dup);
  check(dup == MPI_COMM_NULL, "Comm_free");
}

int main(int argc, char** argv) {
  if (argc > 1 && getenv("LD_PRELOAD") == NULL) {
    setenv("LD_PRELOAD", argv[1], 1);
    execv(argv[0], argv);
    return 1;
  }
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  Dl_info owner = {0};
  dladdr(dlsym(RTLD_DEFAULT, "MPI_Send"), &owner);
  const int preloaded = dlsym(RTLD_DEFAULT, "fenix_mpi_interposer") != NULL;
  check(preloaded == (argc > 1), "the library is not there, or is there without having been asked for");
  printf("rank %d: MPI_Send comes from %s\n", rank, owner.dli_fname != NULL ? owner.dli_fname : "nowhere");
  messages(MPI_COMM_WORLD);
  collectives(MPI_COMM_WORLD);
  communicators();
  printf("FENIX-TEST-OK rank %d\n", rank);
  MPI_Finalize();
  return 0;
}
