// SPDX-License-Identifier: BSD-3-Clause
// The C++ forms: 3 ranks and 1 spare, resume mode "throw". Rank 1 dies when it has stored a value.
#include <fenix.hpp>
#include <mpi.h>

#include <csignal>
#include <string>

#include "persisting.hpp"

namespace {

constexpr int kSpares = 1;
constexpr int kTag = 3;

/// Checks that a call is refused, with this code and text.
void refuses(int code, const std::string& text, MPI_Comm comm, const std::string& key, MPI_Info info) {
  check::expect_thrown(code, text, [&] { (void)fenix::comm_persist(comm, key, info); });
  check::require(fenix::error_message().find(text) != std::string::npos, "text: " + fenix::error_message());
}

void check_errors() {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "persist_depth", "0");
  refuses(FENIX_ERROR_INVALID_ARGUMENT, "persist_depth", MPI_COMM_SELF, "key", info);
  MPI_Info_free(&info);
  refuses(FENIX_ERROR_INVALID_ARGUMENT, "comm is MPI_COMM_NULL", MPI_COMM_NULL, "key", MPI_INFO_NULL);
  refuses(FENIX_ERROR_INVALID_ARGUMENT, "key has a zero byte", MPI_COMM_SELF, std::string("a\0b", 3), MPI_INFO_NULL);
}

void work() {
  const int rank = rank_in(MPI_COMM_WORLD);
  MPI_Comm comm = fenix::comm_persist(MPI_COMM_WORLD, "values");
  int value = 0;
  CHECK(fenix::failure() == (fenix::role() == fenix::RECOVERED_RANK));
  if (fenix::failure()) {
    CHECK(MPI_Recv(&value, 1, MPI_INT, rank, kTag, comm, MPI_STATUS_IGNORE) == MPI_SUCCESS && value == 101);
    // It is the place of a dead one until it sends.
    CHECK(fenix::failure());
  }
  value = 100 + rank;
  CHECK(MPI_Send(&value, 1, MPI_INT, rank, kTag, comm) == MPI_SUCCESS);
  CHECK(!fenix::failure());
  if (rank == 1 && fenix::role() == fenix::INITIAL_RANK) std::raise(SIGKILL);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm_free(&comm);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  refuses(FENIX_ERROR_UNINITIALIZED, "before Fenix_Init", MPI_COMM_SELF, "key", MPI_INFO_NULL);
  fenix::args::FenixInitArgs args;
  args.argc = &argc;
  args.argv = &argv;
  args.spares = kSpares;
  args.unhandled_mode = fenix::SILENT;
  fenix::init(args);
  for (bool done = false; !done;) {
    try {
      if (fenix::role() == fenix::INITIAL_RANK) check_errors();
      work();
      Fenix_Finalize();
      done = true;
    } catch (const fenix::CommException&) {
      CHECK(fenix::role() == fenix::SURVIVOR_RANK);
    }
  }
  check::ok(rank_in(MPI_COMM_WORLD));
  MPI_Finalize();
}
