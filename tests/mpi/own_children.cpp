// SPDX-License-Identifier: BSD-3-Clause
// An application that spawns processes of its own, which use Fenix as well: they are no replacements, whoever spawned them.
#include <csignal>
#include <string_view>

#include "check.hpp"

namespace {

MPI_Comm comm = MPI_COMM_NULL;
int role = -1;
int error = -1;
int rank = -1;

void spawn_child(char* program) {
  char argument[] = "child";
  char* arguments[] = {argument, nullptr};
  MPI_Comm children = MPI_COMM_NULL;
  check::success(MPI_Comm_spawn(program, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &children, MPI_ERRCODES_IGNORE),
                 "MPI_Comm_spawn");
  MPI_Comm_disconnect(&children);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const bool child = argc > 1 && std::string_view(argv[1]) == "child";
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 0, 1, MPI_INFO_NULL, &error);
  check::success(error, "Fenix_Init");
  MPI_Comm_rank(comm, &rank);
  if (child) {
    int size = 0;
    MPI_Comm_size(comm, &size);
    check::expect_equal(role, FENIX_ROLE_INITIAL_RANK, "role of a child");
    check::expect_equal(size, 1, "size of the communicator of a child");
    MPI_Comm parent = MPI_COMM_NULL;
    MPI_Comm_get_parent(&parent);
    MPI_Comm_disconnect(&parent);
  } else if (role == FENIX_ROLE_INITIAL_RANK) {
    if (rank == 1) raise(SIGKILL);
    while (true) MPI_Barrier(comm);
  } else if (rank == 1) {
    // This one was spawned by the library.
    check::expect_equal(role, FENIX_ROLE_RECOVERED_RANK, "role of the replacement");
    spawn_child(argv[0]);
  } else if (rank == 0) {
    spawn_child(argv[0]);
  }
  check::success(Fenix_Finalize(), "Fenix_Finalize");
  check::ok(rank);
  MPI_Finalize();
  return 0;
}
