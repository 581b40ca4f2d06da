// SPDX-License-Identifier: BSD-3-Clause
//
// Solves a 2-D heat equation and survives the death of ranks. options.cpp has the options; run() has the handling of
// failures.
#include <mpi.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <exception>
#include <fenix.hpp>
#include <filesystem>
#include <optional>
#include <stdexcept>

#include "checkpoint_files.hpp"
#include "checkpoint_memory.hpp"
#include "files.hpp"
#include "grid.hpp"
#include "options.hpp"
#include "report.hpp"
#include "simulation.hpp"
#include "work.hpp"

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
  if (is_spawned()) return;  // its MPI_COMM_WORLD is another one
  write_file(out / "pids" / ("process-" + std::to_string(rank_in(MPI_COMM_WORLD))), std::to_string(getpid()) + "\n");
}

// Processes of several nodes may have the same number.
std::filesystem::path work_file(const Options& options) {
  std::array<char, MPI_MAX_PROCESSOR_NAME> node{};
  int length = 0;
  MPI_Get_processor_name(node.data(), &length);
  return std::filesystem::path(options.out) / "work" / (std::string(node.data()) + "-" + std::to_string(getpid()));
}

// Says whether the computation can go on.
bool has_enough_ranks(MPI_Comm comm, const Options& options) {
  return options.then != Then::kEnd || size_of(comm) == size_of(MPI_COMM_WORLD) - options.spares;
}

ExitStatus finish(MPI_Comm comm, const Options& options, const Reporter& reporter) {
  const int rank = rank_in(comm);
  require(Fenix_Finalize());
  if (rank == 0) say("heat2d: done: %d steps, deaths: %d\n", options.steps, reporter.deaths());
  return kDone;
}

// Ends the job without Fenix_Finalize: fenix-run starts it again then.
void give_up(MPI_Comm comm, const Options& options) {
  const int needed = size_of(MPI_COMM_WORLD) - options.spares;
  if (rank_in(comm) == 0) say("heat2d: more deaths than the %d spares: %d ranks needed\n", options.spares, needed);
  MPI_Barrier(comm);
  MPI_Abort(MPI_COMM_WORLD, kNoSpares);
}

// Computes to the end, whatever ranks die.
ExitStatus run(const Options& options) {
  // Written again by the library after each repair.
  int role = FENIX_ROLE_INITIAL_RANK;
  int error = FENIX_SUCCESS;
  MPI_Comm comm = MPI_COMM_NULL;
  // Spares wait in this call until they are needed. In resume mode "throw", no other rank comes here a second time.
  fenix::init({.role = &role,
               .out_comm = &comm,
               .spares = options.spares,
               .err = &error,
               .spawn = options.then == Then::kSpawn ? 1 : 0});
  if (error != FENIX_ERROR_SPAWNING_FAILED) require(error);  // fewer ranks go on then

  MemoryCheckpoint checkpoint(options.depth);
  Reporter reporter(options.out);
  Work work(work_file(options));
  std::optional<Simulation> simulation;
  for (;;) {
    try {
      if (!has_enough_ranks(comm, options)) give_up(comm, options);
      const int rank = rank_in(comm);
      const int ranks = size_of(comm);
      if (!simulation || !simulation->is_for(rank, ranks)) {
        simulation.emplace(options, rank, ranks, Tools{checkpoint, reporter, work});
      }
      simulation->run(comm);
      return finish(comm, options, reporter);
    } catch (const fenix::CommException&) {
      // The communicator has been repaired, and the simulation knows the step from which it continues.
      if (simulation) simulation->note_failure();
    }
  }
}

// Computes to the end, or until a rank dies.
ExitStatus run_without_recovery(const Options& options) {
  FileCheckpoint checkpoint(options.files);
  Reporter reporter(options.out);
  Work work(work_file(options));
  const int rank = rank_in(MPI_COMM_WORLD);
  Simulation(options, rank, size_of(MPI_COMM_WORLD), {checkpoint, reporter, work}).run(MPI_COMM_WORLD);
  if (rank == 0) say("heat2d: done: %d steps, deaths: %d\n", options.steps, 0);
  return kDone;
}

void check_ranks(const Options& options) {
  if (is_spawned()) return;
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
  announce_process(options);
  return options.files.empty() ? run(options) : run_without_recovery(options);
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
