/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes and error handlers of communicators, wrong arguments of constructors, and constructors that ranks call in different orders.
 * usage: made_handles [dies]
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define FAIL(...) \
  (printf("FENIX-TEST-FAIL rank %d: ", rank), printf(__VA_ARGS__), printf("\n"), MPI_Abort(MPI_COMM_WORLD, 3))

static int rank, size, copied, deleted, handled, handled_code;

static int copy(MPI_Comm comm, int key, void* extra, void* value, void* made, int* flag) {
  (void)comm, (void)key, (void)extra;
  *(void**)made = (char*)value + 1;
  *flag = 1;
  ++copied;
  return MPI_SUCCESS;
}

static int delete (MPI_Comm comm, int key, void* value, void* extra) {
  int members = 0;
  (void)key, (void)extra, (void)value;
  /* The communicator is still there. */
  MPI_Comm_size(comm, &members);
  if (members != size) FAIL("a communicator of %d ranks in the delete function", members);
  ++deleted;
  return MPI_SUCCESS;
}

static void handle(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  ++handled;
  handled_code = *code;
}

static void is(const char* what, long found, long expected) {
  if (found != expected) FAIL("%s: %ld, not %ld", what, found, expected);
}

static void is_class(const char* what, int error, int expected) {
  int error_class = 0;
  MPI_Error_class(error, &error_class);
  is(what, error_class, expected);
}

static void attributes(void) {
  MPI_Comm one, two;
  int key, flag = 0;
  char base[4];
  void* value = NULL;
  MPI_Comm_create_keyval(copy, delete, &key, NULL);
  MPI_Comm_dup(MPI_COMM_WORLD, &one);
  MPI_Comm_set_attr(one, key, base);
  MPI_Comm_dup(one, &two);
  is("copied attributes", copied, 1);
  MPI_Comm_get_attr(two, key, &value, &flag);
  if (!flag || value != base + 1) FAIL("the attribute of the duplicate");
  MPI_Comm_free(&two);
  is("attributes deleted with the duplicate", deleted, 1);
  MPI_Comm_free(&one);
  is("attributes deleted", deleted, 2);
  MPI_Comm_free_keyval(&key);
  /* Tags that are promised may be used. */
  int* greatest = NULL;
  int token = 1;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &greatest, &flag);
  if (!flag || *greatest < 32767) FAIL("MPI_TAG_UB");
  MPI_Sendrecv_replace(&token, 1, MPI_INT, (rank + 1) % size, *greatest, (rank + size - 1) % size, *greatest,
                       MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void handlers(void) {
  MPI_Errhandler own, found;
  MPI_Comm made;
  int error_class, code, length;
  char text[MPI_MAX_ERROR_STRING];
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &found);
  if (found != MPI_ERRORS_ARE_FATAL) FAIL("MPI_COMM_WORLD has not MPI_ERRORS_ARE_FATAL at first");
  MPI_Errhandler_free(&found);
  MPI_Comm_create_errhandler(handle, &own);
  MPI_Comm_dup(MPI_COMM_WORLD, &made);
  MPI_Comm_set_errhandler(made, own);
  MPI_Comm_get_errhandler(made, &found);
  if (found != own) FAIL("the handler of the program");
  MPI_Errhandler_free(&found);
  MPI_Add_error_class(&error_class);
  MPI_Add_error_code(error_class, &code);
  MPI_Add_error_string(code, "the error of a program");
  MPI_Comm_call_errhandler(made, code);
  is("calls of the handler", handled, 1);
  is("code", handled_code, code);
  is_class("class of an own code", code, error_class);
  MPI_Error_string(code, text, &length);
  if (length != 22) FAIL("text of an own code: %s", text);
  /* It is inherited, and gets what MPI finds. */
  MPI_Comm child;
  MPI_Comm_split(made, 0, rank, &child);
  int value = 0;
  is_class("a rank that there is not", MPI_Send(&value, 1, MPI_INT, size, 0, child), MPI_ERR_RANK);
  is("calls of the handler", handled, 2);
  is_class("code", handled_code, MPI_ERR_RANK);
  MPI_Comm_free(&child);
  MPI_Comm_free(&made);
  MPI_Errhandler_free(&own);
}

#define WRONG(CALL, CLASS) is_class(#CALL, CALL, CLASS)

/* Rank 0 alone makes mistakes with messages: the others do not know of them. */
static void wrong_arguments(void) {
  MPI_Comm made = MPI_COMM_NULL, null = MPI_COMM_NULL, world = MPI_COMM_WORLD;
  const int dims[2] = {size, 2}, negative[1] = {-1}, periods[2] = {0, 0}, ends[1] = {size}, degree[1] = {1},
            none[1] = {-7};
  /* The compiler is not to know it. */
  int* volatile unweighted = MPI_UNWEIGHTED;
  int value = 0, results[64];
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  WRONG(MPI_Comm_split(MPI_COMM_WORLD, -5, 0, &made), MPI_ERR_ARG);
  WRONG(MPI_Comm_split(MPI_COMM_WORLD, 0, 0, NULL), MPI_ERR_ARG);
  WRONG(MPI_Comm_dup(MPI_COMM_WORLD, NULL), MPI_ERR_ARG);
  WRONG(MPI_Comm_dup(null, &made), MPI_ERR_COMM);
  WRONG(MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_NULL, &made), MPI_ERR_GROUP);
  WRONG(MPI_Comm_split_type(MPI_COMM_WORLD, -77, 0, MPI_INFO_NULL, &made), MPI_ERR_ARG);
  WRONG(MPI_Cart_create(MPI_COMM_WORLD, -1, dims, periods, 0, &made), MPI_ERR_ARG);
  WRONG(MPI_Cart_create(MPI_COMM_WORLD, 1, negative, periods, 0, &made), MPI_ERR_OTHER);
  WRONG(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &made), MPI_ERR_ARG);
  WRONG(MPI_Cart_sub(MPI_COMM_WORLD, dims, &made), MPI_ERR_TOPOLOGY);
  WRONG(MPI_Graph_create(MPI_COMM_WORLD, size + 1, dims, dims, 0, &made), MPI_ERR_ARG);
  WRONG(MPI_Dist_graph_create(MPI_COMM_WORLD, -1, NULL, NULL, NULL, unweighted, MPI_INFO_NULL, 0, &made), MPI_ERR_ARG);
  WRONG(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, degree, ends, unweighted, MPI_INFO_NULL, 0, &made),
        MPI_ERR_ARG);
  WRONG(MPI_Dist_graph_create(null, 0, NULL, NULL, NULL, unweighted, MPI_INFO_NULL, 0, &made), MPI_ERR_COMM);
  WRONG(
      MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, none, unweighted, 0, NULL, unweighted, MPI_INFO_NULL, 0, &made),
      MPI_ERR_ARG);
  if (rank == 0) {
    WRONG(MPI_Comm_free(&null), MPI_ERR_COMM);
    WRONG(MPI_Comm_free(&world), MPI_ERR_COMM);
    WRONG(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRHANDLER_NULL), MPI_ERR_ARG);
    WRONG(MPI_Send(&value, -1, MPI_INT, 0, 0, MPI_COMM_WORLD), MPI_ERR_COUNT);
    WRONG(MPI_Send(&value, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
    WRONG(MPI_Send(&value, 1, MPI_INT, size, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
    WRONG(MPI_Send(&value, 1, MPI_INT, 0, -5, MPI_COMM_WORLD), MPI_ERR_TAG);
    WRONG(MPI_Send(&value, 1, MPI_INT, 0, 0, null), MPI_ERR_COMM);
    WRONG(MPI_Recv(&value, -1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_ERR_COUNT);
    WRONG(MPI_Recv(&value, 1, MPI_INT, size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_ERR_RANK);
    WRONG(MPI_Bcast(&value, 1, MPI_INT, size, MPI_COMM_WORLD), MPI_ERR_ROOT);
    WRONG(MPI_Bcast(&value, -1, MPI_INT, 0, MPI_COMM_WORLD), MPI_ERR_COUNT);
    WRONG(MPI_Bcast(&value, 1, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
    WRONG(MPI_Reduce(&value, results, 1, MPI_INT, MPI_OP_NULL, 0, MPI_COMM_WORLD), MPI_ERR_OP);
    WRONG(MPI_Reduce(&value, results, 1, MPI_INT, MPI_SUM, -1, MPI_COMM_WORLD), MPI_ERR_ROOT);
    WRONG(MPI_Allreduce(&value, results, -1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_COUNT);
    WRONG(MPI_Allreduce(&value, results, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD), MPI_ERR_OP);
    WRONG(MPI_Allreduce(&value, results, 1, MPI_DOUBLE, MPI_BAND, MPI_COMM_WORLD), MPI_ERR_OP);
    WRONG(MPI_Allgather(&value, -1, MPI_INT, results, 1, MPI_INT, MPI_COMM_WORLD), MPI_ERR_COUNT);
    WRONG(MPI_Gather(&value, 1, MPI_INT, results, 1, MPI_INT, size, MPI_COMM_WORLD), MPI_ERR_ROOT);
    WRONG(MPI_Scatter(results, 1, MPI_INT, &value, 1, MPI_INT, -3, MPI_COMM_WORLD), MPI_ERR_ROOT);
    WRONG(MPI_Alltoall(results, 1, MPI_INT, results + 32, -1, MPI_INT, MPI_COMM_WORLD), MPI_ERR_COUNT);
    WRONG(MPI_Scan(&value, results, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD), MPI_ERR_OP);
    WRONG(MPI_Barrier(null), MPI_ERR_COMM);
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* Halves make different numbers of communicators, in different orders. */
static void different_orders(int dies) {
  MPI_Comm half, dup = MPI_COMM_NULL, split = MPI_COMM_NULL;
  int members, sum = 0;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  if (rank % 2) {
    MPI_Comm_dup(half, &dup);
    if (dies) raise(SIGKILL);
    MPI_Comm_split(half, 0, -rank, &split);
  } else {
    for (int i = 0; i < 3; ++i) {
      MPI_Comm_split(half, 0, -rank, &split);
      if (i < 2) MPI_Comm_free(&split);
    }
    MPI_Comm_dup(half, &dup);
  }
  MPI_Comm_size(dup, &members);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, dup);
  int expected = 0;
  for (int i = rank % 2; i < size; i += 2) expected += i;
  is("sum over the half", sum, expected);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, split);
  is("sum over the half, the other way round", sum, expected);
  MPI_Comm_free(&dup);
  MPI_Comm_free(&split);
  MPI_Comm_free(&half);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  attributes();
  handlers();
  /* A replacement would not find the same mistakes: calls that have failed are not recorded. */
  if (argc == 1) wrong_arguments();
  different_orders(argc > 1 && rank == 1 && atoi(getenv("PMIX_RANK")) == rank);
  int sum = 0;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  is("sum", sum, size * (size - 1) / 2);
  printf("FENIX-TEST-OK rank %d\n", rank);
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
