// SPDX-License-Identifier: BSD-3-Clause
// A callback after a repair ends the use of Fenix. It is not destroyed before it returns, and control returns to the call that
// met the death, in each resume mode: there is nothing to resume any more. A callback before a repair may not.
// 4 ranks, one of them spare; rank 1 dies.
#include <csignal>
#include <memory>
#include <string>

#include "check.hpp"

using check::expect_equal;
using check::require;
using check::success;

namespace {

int role = -1;
int error = -1;
int times = 0;  // that Fenix_Init was passed
MPI_Comm comm = MPI_COMM_NULL;
int before = -1;

bool destroyed = false;
bool ended = false;

struct Content {
  Content() = default;
  Content(const Content&) = delete;
  Content& operator=(const Content&) = delete;
  ~Content() { destroyed = true; }
};

void end_at_once(MPI_Comm, int, void*) { before = Fenix_Finalize(); }

void end_of_survivors() {
  MPI_Barrier(comm);
  const int code = Fenix_Finalize();
  success(code, "Fenix_Finalize in a callback");
  require(!destroyed, "the callback is destroyed while it runs");
  ended = true;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const std::string mode = argc > 1 ? argv[1] : "jump";
  Fenix_set_option(FENIX_RESUME_MODE, mode == "jump" ? FENIX_RESUME_JUMP : FENIX_RESUME_THROW);
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 1, &error);
  int rank = -1;
  MPI_Comm_rank(comm, &rank);
  require(++times == 1, "control has come back to Fenix_Init");
  if (role == FENIX_ROLE_INITIAL_RANK) {
    Fenix_Callback_register_at(end_at_once, nullptr, FENIX_CALLBACK_PRE_RECOVERY);
    fenix::callback_register([content = std::make_shared<Content>()](MPI_Comm, int) { end_of_survivors(); });
    MPI_Barrier(comm);
    if (rank == 1) raise(SIGKILL);
    require(MPI_Barrier(comm) != MPI_SUCCESS, "a barrier without rank 1 does not fail");
    require(ended, "the callback has not been called");
    require(destroyed, "the callback is not destroyed");
    expect_equal(before, FENIX_ERROR_INVALID_LOGIC_CALL, "Fenix_Finalize in a callback before the repair");
  } else {
    MPI_Barrier(comm);
    success(Fenix_Finalize(), "Fenix_Finalize");
  }
  check::ok(rank);
  MPI_Finalize();
  return 0;
}
