/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that make what no log has. Where messages are logged each one is refused on all ranks, and the job goes on; otherwise it works.
 * usage: refused_calls [CALL] [dies]
 *   CALL: only this one, with the error handlers that MPI has at first
 *   dies: rank 1 dies afterwards
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAIL(...) \
  (printf("FENIX-TEST-FAIL rank %d: ", rank), printf(__VA_ARGS__), printf("\n"), MPI_Abort(MPI_COMM_WORLD, 3))

static int rank, size, wanted;
static const char* only;
static int memory[4];

static void check(const char* call, int error) {
  int error_class = MPI_SUCCESS;
  MPI_Error_class(error, &error_class);
  if (error_class != wanted) FAIL("%s returned the class %d, not %d", call, error_class, wanted);
}

static int is_wanted(const char* call) { return only == NULL || strcmp(only, call) == 0; }

static void free_win(MPI_Win* win) {
  if (wanted == MPI_SUCCESS) MPI_Win_free(win);
}

static void windows(void) {
  MPI_Win win = MPI_WIN_NULL;
  void* base = NULL;
  if (is_wanted("MPI_Win_create")) {
    check("MPI_Win_create", MPI_Win_create(memory, sizeof memory, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    free_win(&win);
  }
  if (is_wanted("MPI_Win_allocate")) {
    check("MPI_Win_allocate", MPI_Win_allocate(16, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    free_win(&win);
  }
  if (is_wanted("MPI_Win_allocate_shared")) {
    check("MPI_Win_allocate_shared", MPI_Win_allocate_shared(16, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    free_win(&win);
  }
  if (is_wanted("MPI_Win_create_dynamic")) {
    check("MPI_Win_create_dynamic", MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    free_win(&win);
  }
}

static void files(void) {
  MPI_File file = MPI_FILE_NULL;
  char name[256];
  if (!is_wanted("MPI_File_open")) return;
  snprintf(name, sizeof name, "%s/refused_calls.%s", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp",
           getenv("PMIX_NAMESPACE"));
  for (char* at = name; *at; ++at) {
    if (*at == '@') *at = '_';
  }
  MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
  check("MPI_File_open", MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                                       MPI_INFO_NULL, &file));
  if (wanted == MPI_SUCCESS) MPI_File_close(&file);
}

static void intercommunicators(void) {
  MPI_Comm half = MPI_COMM_NULL, inter = MPI_COMM_NULL, merged = MPI_COMM_NULL;
  if (!is_wanted("MPI_Intercomm_create")) return;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  if (only == NULL) MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN);
  check("MPI_Intercomm_create", MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 5, &inter));
  if (wanted == MPI_SUCCESS) {
    check("MPI_Intercomm_merge", MPI_Intercomm_merge(inter, rank % 2, &merged));
    MPI_Comm_free(&merged);
    MPI_Comm_free(&inter);
  }
  MPI_Comm_free(&half);
}

static void others(void) {
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  if (is_wanted("MPI_Open_port")) {
    check("MPI_Open_port", MPI_Open_port(MPI_INFO_NULL, port));
    if (wanted == MPI_SUCCESS) MPI_Close_port(port);
  }
  if (is_wanted("MPI_Comm_idup")) {
    check("MPI_Comm_idup", MPI_Comm_idup(MPI_COMM_WORLD, &made, &request));
    if (wanted == MPI_SUCCESS) {
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      MPI_Comm_free(&made);
    }
  }
  /* What MPI itself does with these needs other programs. */
  if (wanted == MPI_SUCCESS) return;
  if (is_wanted("MPI_Comm_accept"))
    check("MPI_Comm_accept", MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &made));
  if (is_wanted("MPI_Comm_connect"))
    check("MPI_Comm_connect", MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &made));
  if (is_wanted("MPI_Comm_join")) check("MPI_Comm_join", MPI_Comm_join(0, &made));
  if (is_wanted("MPI_Comm_spawn")) {
    check("MPI_Comm_spawn",
          MPI_Comm_spawn("true", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &made, MPI_ERRCODES_IGNORE));
  }
  if (is_wanted("MPI_Comm_spawn_multiple")) {
    char* command = "true";
    int count = 1;
    MPI_Info info = MPI_INFO_NULL;
    check("MPI_Comm_spawn_multiple", MPI_Comm_spawn_multiple(1, &command, MPI_ARGVS_NULL, &count, &info, 0,
                                                             MPI_COMM_WORLD, &made, MPI_ERRCODES_IGNORE));
  }
  if (is_wanted("MPI_Session_init")) {
    MPI_Session session = MPI_SESSION_NULL;
    check("MPI_Session_init", MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
  }
  if (is_wanted("MPI_Psend_init")) {
    check("MPI_Psend_init", MPI_Psend_init(memory, 1, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
    check("MPI_Precv_init", MPI_Precv_init(memory, 1, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
  }
}

int main(int argc, char** argv) {
  const char* unlogged = getenv("FENIX_UNLOGGED");
  const int dies = argc > 1 && strcmp(argv[argc - 1], "dies") == 0;
  only = argc > 1 + dies ? argv[1] : NULL;
  wanted = getenv("FENIX_SPARES") && !(unlogged && strcmp(unlogged, "allow") == 0) ? MPI_ERR_UNSUPPORTED_OPERATION
                                                                                   : MPI_SUCCESS;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (only == NULL) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  }
  windows();
  files();
  intercommunicators();
  others();
  /* The job is as healthy as before. */
  int sum = 0;
  for (int step = 0; step < 4; ++step) {
    /* The number that its launcher has given to a process that has not taken another one's place. */
    if (dies && step == 2 && rank == 1 && atoi(getenv("PMIX_RANK")) == rank) raise(SIGKILL);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (sum != size * (size - 1) / 2) FAIL("the sum of the ranks is %d", sum);
  }
  printf("FENIX-TEST-OK rank %d\n", rank);
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
