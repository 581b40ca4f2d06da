// SPDX-License-Identifier: BSD-3-Clause
// A job that ends in a certain way, to see what mpirun says of it. Knows nothing of Fenix: it tests Open MPI's launcher.
// usage: ending KIND; rank 1 does what KIND says, the others go on as ranks of a program that survives deaths. "wait": rank 1 waits, until
// its node dies, or for 8 s
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <mpi-ext.h>

static int is(const char* kind, const char* name) { return strcmp(kind, name) == 0; }

static void spawn_one_that_returns_3(const char* program) {
  MPI_Comm child;
  char* arguments[] = {"child", NULL};
  MPI_Comm_spawn(program, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &child, MPI_ERRCODES_IGNORE);
  MPI_Comm_disconnect(&child);
  sleep(60);  // until mpirun ends all
}

// Waits for rank 1, which never sends.
static void outlive_rank_1(void) {
  int nothing;
  MPI_Comm comm;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Recv(&nothing, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPIX_Comm_revoke(MPI_COMM_WORLD);
  MPIX_Comm_shrink(MPI_COMM_WORLD, &comm);
}

int main(int argc, char** argv) {
  const char* kind = argc > 1 ? argv[1] : "";
  int rank;
  signal(SIGPIPE, SIG_IGN);
  if (is(kind, "status-before-init") && atoi(getenv("PMIX_RANK")) == 1) {
    // The launcher forgets to end processes that it has not started yet (tests/open_mpi/README.md).
    sleep(1);
    return 3;
  }
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (is(kind, "child")) {
    MPI_Comm parent;
    MPI_Comm_get_parent(&parent);
    MPI_Comm_disconnect(&parent);
    MPI_Finalize();
    return 3;
  }
  if (is(kind, "all-killed")) raise(SIGKILL);
  if (is(kind, "all-return-3")) {
    MPI_Finalize();
    return 3;
  }
  if (is(kind, "status")) {
    MPI_Finalize();
    if (rank == 1) return 3;
    sleep(60);  // until mpirun ends it
  }
  if (rank == 1) {
    if (is(kind, "abort")) MPI_Abort(MPI_COMM_WORLD, 5);
    if (is(kind, "wait")) sleep(8);
    if (is(kind, "killed") || is(kind, "wait")) raise(SIGKILL);
    if (is(kind, "crash")) abort();
    if (is(kind, "exit-before-finalize")) _exit(4);
    if (is(kind, "return-before-finalize")) _exit(0);
    if (is(kind, "spawned-status")) spawn_one_that_returns_3(argv[0]);
  } else if (!is(kind, "success")) {
    outlive_rank_1();
  }
  printf("ENDING went on\n");
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
