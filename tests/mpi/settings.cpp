// SPDX-License-Identifier: BSD-3-Clause
// Variables of the environment at Fenix_Init: wrong ones are refused on all ranks, different ones where that does harm, warnings are
// written once for the job, and a job that is well writes none.
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "check.hpp"

namespace {

using check::expect_equal;
using check::require;
using check::success;

constexpr int kGroup = 4;

int rank = 0;
std::string file;

/// Sets a variable on some ranks for as long as it lives.
class Set {
 public:
  Set(bool is_here, const char* name, const char* value) : name_(name) {
    if (is_here) setenv(name, value, 1);
  }
  ~Set() { unsetenv(name_); }
  Set(const Set&) = delete;
  Set& operator=(const Set&) = delete;

 private:
  const char* name_;
};

/// Returns how many lines all ranks have written to stderr since the last call, and that have some text.
int lines_of_all(const std::string& text) {
  static std::streamoff read = 0;
  std::ifstream written(file);
  written.seekg(read);
  int lines = 0;
  for (std::string line; std::getline(written, line);) {
    read += static_cast<std::streamoff>(line.size()) + 1;
    lines += line.find(text) != std::string::npos ? 1 : 0;
  }
  MPI_Allreduce(MPI_IN_PLACE, &lines, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return lines;
}

int begin(MPI_Comm& comm) {
  int role = 0;
  int error = 0;
  return Fenix_Init_no_jump(&role, MPI_COMM_WORLD, &comm, nullptr, nullptr, 0, 0, MPI_INFO_NULL, &error);
}

void expect_refused(int code, const std::string& text) {
  MPI_Comm comm = MPI_COMM_WORLD;
  expect_equal(begin(comm), code, "Fenix_Init with " + text);
  require(comm == MPI_COMM_NULL, "newcomm after a refusal");
  require(std::string(Fenix_Error_message()).find(text) != std::string::npos, "the text is not of " + text);
  require(Fenix_Process_should_halt(&code) == FENIX_ERROR_UNINITIALIZED, "Fenix is in use after a refusal");
}

void use() {
  MPI_Comm comm = MPI_COMM_NULL;
  success(begin(comm), "Fenix_Init");
  long state = rank;
  success(fenix::data::group_create(kGroup), "group_create");
  success(fenix::data::member_define(kGroup, 1, &state, 1, MPI_LONG), "member_define");
  success(fenix::data::member_store(kGroup, 1), "store");
  success(fenix::data::commit_barrier(kGroup), "commit_barrier");
  success(Fenix_Finalize(), "Fenix_Finalize");
}

void refuses() {
  for (const bool is_here : {true, rank == 2}) {
    const Set wrong(is_here, "FENIX_FLUSH", "often");
    expect_refused(FENIX_ERROR_INVALID_ARGUMENT,
                   "FENIX_FLUSH is \"often\" in the environment, and has to be a whole number");
  }
  const Set other(rank == 2, "FENIX_PATH", "window");
  expect_refused(FENIX_ERROR_MISMATCH, "rank 2 and rank 0 have different values of FENIX_PATH");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  file = std::string(argc > 1 ? argv[1] : ".") + "/settings." + std::to_string(rank) + ".txt";
  require(std::freopen(file.c_str(), "w", stderr) != nullptr, "stderr goes to " + file);
  use();
  expect_equal(lines_of_all(""), 0, "lines of a job that is well");
  refuses();
  expect_equal(lines_of_all(""), 0, "lines of jobs that were refused");
  {
    const Set misspelt(true, "FENIX_TIMEOOUT", "20");
    use();
    use();
  }
  expect_equal(lines_of_all("warning] FENIX_TIMEOOUT is in the environment, and nobody reads it"), 1,
               "warnings of all");
  {
    const Set misspelt(rank == 1, "FENIX_STOER", "here");
    const Set slower(rank == 2, "FENIX_TIMEOUT", "1h");
    use();
  }
  const int lines = lines_of_all("warning]");
  expect_equal(lines, 2, "warnings of one rank, and of a difference");
  MPI_Barrier(MPI_COMM_WORLD);
  unlink(file.c_str());
  check::ok(rank);
  MPI_Finalize();
  return 0;
}
