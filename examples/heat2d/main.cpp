// SPDX-License-Identifier: BSD-3-Clause
//
// Solves a 2-D heat equation and survives the death of ranks. options.cpp has the options; run() has the handling of
// failures.
#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <fenix.hpp>
#include <filesystem>
#include <stdexcept>

#include "checkpoint.hpp"
#include "files.hpp"
#include "grid.hpp"
#include "options.hpp"
#include "simulation.hpp"

namespace heat2d {

namespace {

enum ExitStatus { kDone = 0, kError = 1, kUsage = 2, kNoSpares = 3 };

int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

int size_of(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

void say(const char* format, int a, int b) {
  std::printf(format, a, b);
  std::fflush(stdout);
}

// Writes the id of this process to a file, for scripts that kill processes.
void announce_process(const Options& options) {
  const std::filesystem::path out = options.out;
  std::filesystem::create_directories(out / "pids");
  write_file(out / "pids" / ("process-" + std::to_string(rank_in(MPI_COMM_WORLD))), std::to_string(getpid()) + "\n");
}

ExitStatus run(const Options& options) {
  announce_process(options);

  // Written again by the library after each repair.
  int role = FENIX_ROLE_INITIAL_RANK;
  int error = FENIX_SUCCESS;
  MPI_Comm comm = MPI_COMM_NULL;
  // Spares wait in this call until they are needed. In resume mode "throw", no other rank comes here a second time.
  fenix::init({.role = &role, .out_comm = &comm, .spares = options.spares, .err = &error});
  require(error);

  const int ranks = size_of(MPI_COMM_WORLD) - options.spares;
  Simulation simulation(options, rank_in(comm), ranks);
  for (;;) {
    try {
      const bool complete = size_of(comm) == ranks;
      if (complete) simulation.run(comm);
      const int rank = rank_in(comm);
      require(Fenix_Finalize());
      if (rank == 0 && complete) say("heat2d: done: %d steps, deaths: %d\n", options.steps, simulation.deaths());
      if (rank == 0 && !complete)
        say("heat2d: more deaths than the %d spares: %d ranks needed\n", options.spares, ranks);
      return complete ? kDone : kNoSpares;
    } catch (const fenix::CommException&) {
      // The communicator has been repaired, and the simulation knows the step from which it continues.
      simulation.note_failure();
    }
  }
}

void check_ranks(const Options& options) {
  const int ranks = size_of(MPI_COMM_WORLD) - options.spares;
  if (ranks < 1) throw std::invalid_argument("there must be more ranks than spares");
  (void)make_grid(options.width, options.height, ranks);
}

ExitStatus parse_and_run(int argc, char** argv) {
  Options options;
  try {
    options = parse_options(argc, argv);
    if (!options.help) check_ranks(options);
  } catch (const std::invalid_argument& error) {
    if (rank_in(MPI_COMM_WORLD) == 0) std::fprintf(stderr, "heat2d: %s\n", error.what());
    return kUsage;
  }
  if (options.help) {
    if (rank_in(MPI_COMM_WORLD) == 0) std::fputs(kHelp, stdout);
    return kDone;
  }
  return run(options);
}

}  // namespace

}  // namespace heat2d

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = heat2d::kError;
  try {
    status = heat2d::parse_and_run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "heat2d: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, status);
  }
  MPI_Finalize();
  return status;
}
