// SPDX-License-Identifier: BSD-3-Clause
// SIGPIPE: no rank ends by it while Fenix is in use. Programs that a rank starts get the action of the system. A handler of the
// program stays. After a use without a death all is as before.
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "check.hpp"

namespace {

using check::expect_equal;
using check::require;
using check::success;

void ignore_it(int) {}

void write_to_nobody() {
  int ends[2];
  expect_equal(pipe(ends), 0, "pipe");
  close(ends[0]);
  expect_equal(write(ends[1], "x", 1), -1, "a write that nobody reads");
  expect_equal(errno, EPIPE, "errno");
  close(ends[1]);
}

void (*action())(int) {
  struct sigaction now {};
  expect_equal(sigaction(SIGPIPE, nullptr, &now), 0, "sigaction");
  return now.sa_handler;
}

// yes ends by SIGPIPE, or with an error that it prints. MPI has made descriptors of its own: they are not passed on.
void start_a_program() {
  const int status = std::system(
      "yes 2>/dev/null | true; test \"$(sed -n 's/^SigIgn:\\t//p' /proc/self/status)\" && "
      "sed -n 's/^SigIgn:\\t//p' /proc/self/status | grep -q '[02468aceACE]...$'");
  expect_equal(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0, "status of a program in which SIGPIPE is not ignored");
}

void use_fenix(int* argc, char*** argv, bool has_handler) {
  static int role = -1;
  static int error = -1;
  static MPI_Comm comm = MPI_COMM_NULL;
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, argc, argv, 0, &error);
  success(error, "error");
  write_to_nobody();
  if (!has_handler) start_a_program();
  require(!has_handler || action() == ignore_it, "the handler of the program is gone");
  success(Fenix_Finalize(), "Fenix_Finalize");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  std::signal(SIGPIPE, SIG_DFL);
  use_fenix(&argc, &argv, false);
  require(action() == SIG_DFL, "SIGPIPE has another action after Fenix_Finalize than before Fenix_Init");
  std::signal(SIGPIPE, ignore_it);
  use_fenix(&argc, &argv, true);
  require(action() == ignore_it, "the handler of the program is gone after Fenix_Finalize");
  int rank = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  check::ok(rank);
  MPI_Finalize();
  return 0;
}
