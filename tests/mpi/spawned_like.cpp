// SPDX-License-Identifier: BSD-3-Clause
// A process that is spawned for a dead one is started like it: by the same path, with the same words and variables. 3 ranks, started by a
// link each, as an interpreter of Python in a virtual environment is; rank 1 dies.
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>

#include "check.hpp"

namespace {

using check::expect_equal;
using check::require;
using check::success;

constexpr const char* kVariable = "TEXT_OF_A_TEST";
constexpr const char* kText = "a = b\n'c'";
constexpr const char* kWord = "two words";

MPI_Comm comm = MPI_COMM_NULL;
int role = -1;
int error = -1;
int rank = -1;

std::string text_of(const char* name) {
  const char* text = std::getenv(name);
  return text != nullptr ? text : "";
}

// Starts the program again by a link to it, with a variable that mpirun does not know.
void start_by_link() {
  const std::string link = text_of("TMPDIR") + "/link." + std::to_string(getpid());
  std::filesystem::create_symlink(std::filesystem::read_symlink("/proc/self/exe"), link);
  setenv(kVariable, kText, 1);
  execl(link.c_str(), link.c_str(), kWord, nullptr);
  check::fail("the program cannot be started by a link");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 1) start_by_link();
  const std::string own_rank = text_of("PMIX_RANK");
  MPI_Init(&argc, &argv);
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 0, 1, MPI_INFO_NULL, &error);
  success(error, "Fenix_Init");
  MPI_Comm_rank(comm, &rank);
  require(std::string(argv[0]).find("/link.") != std::string::npos, std::string("started by ") + argv[0]);
  expect_equal(argc, 2, "number of words");
  require(std::string(argv[1]) == kWord, std::string("word ") + argv[1]);
  require(text_of(kVariable) == kText, "the variable is " + text_of(kVariable));
  if (role == FENIX_ROLE_INITIAL_RANK) {
    MPI_Barrier(comm);
    if (rank == 1) raise(SIGKILL);
    while (true) MPI_Barrier(comm);
  }
  int size = 0;
  MPI_Comm_size(comm, &size);
  expect_equal(size, 3, "size after the repair");
  // The launcher has given it a rank of its own.
  require(own_rank == std::to_string(role == FENIX_ROLE_RECOVERED_RANK ? 0 : rank), "PMIX_RANK is " + own_rank);
  success(Fenix_Finalize(), "Fenix_Finalize");
  check::ok(rank);
  MPI_Finalize();
  return 0;
}
