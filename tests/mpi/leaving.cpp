// SPDX-License-Identifier: BSD-3-Clause
// A rank leaves with exit(), without MPI_Finalize, as the advice to users of specification 2.4 has it: a spare takes its
// place. Its functions of atexit run, and its output is not lost. 4 ranks, one of them spare. With "blocked", another thread of the
// rank waits for input, and so has the stream that it reads.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <thread>

#include "check.hpp"

using check::expect_equal;
using check::success;

namespace {

// A child of fork() is no rank: it ends as it says.
void have_a_child() {
  const pid_t child = fork();
  if (child == 0) std::exit(7);
  int status = 0;
  expect_equal(waitpid(child, &status, 0), child, "waitpid");
  expect_equal(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 7, "status of a child");
}

void say_goodbye() { std::printf("rank 1 says goodbye, without the end of a line"); }

// Returns when it waits.
void block_a_stream() {
  int ends[2];
  expect_equal(pipe(ends), 0, "pipe");
  FILE* const stream = fdopen(ends[0], "r");
  std::thread([stream] { (void)std::fgetc(stream); }).detach();
  while (ftrylockfile(stream) == 0) funlockfile(stream);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  static int role = -1;
  static int error = -1;
  static MPI_Comm comm = MPI_COMM_NULL;
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 1, &error);
  int rank = -1;
  MPI_Comm_rank(comm, &rank);
  if (role == FENIX_ROLE_INITIAL_RANK) {
    have_a_child();
    MPI_Barrier(comm);
    if (rank == 1) {
      std::atexit(say_goodbye);
      if (argc > 1 && std::strcmp(argv[1], "blocked") == 0) block_a_stream();
      std::exit(0);
    }
    MPI_Barrier(comm);
    check::fail("a barrier without rank 1");
  }
  success(error, "error");
  expect_equal(role, rank == 1 ? FENIX_ROLE_RECOVERED_RANK : FENIX_ROLE_SURVIVOR_RANK, "role");
  success(MPI_Barrier(comm), "MPI_Barrier");
  success(Fenix_Finalize(), "Fenix_Finalize");
  check::ok(rank);
  MPI_Finalize();
  return 0;
}
