// SPDX-License-Identifier: BSD-3-Clause
#include "simulation.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "files.hpp"
#include "gather.hpp"
#include "png.hpp"

namespace heat2d {

namespace {

// Gets the number of cells without the frame.
int inner_count(const Block& block) { return block.width * block.height; }

}  // namespace

Simulation::Simulation(const Options& options, int rank, int ranks, const Tools& tools)
    : options_(options),
      rank_(rank),
      grid_(make_grid(options.width, options.height, ranks)),
      field_(grid_, block_of(grid_, rank)),
      halo_(block_of(grid_, rank)),
      tools_(tools) {
  write_file(std::filesystem::path(options_.out) / "pids" / ("rank-" + std::to_string(rank)),
             std::to_string(getpid()) + "\n");
}

void Simulation::run(MPI_Comm comm) {
  const Resumption from = tools_.checkpoint.resume(comm, field_);
  step_ = from.step;
  report(comm, from);
  compute(comm);
  write_results(comm);
}

void Simulation::report(MPI_Comm comm, const Resumption& from) {
  const int reporter = tools_.reporter.report(comm, from);
  if (reporter < 0 || !options_.pictures) return;
  write_picture("death-" + std::to_string(tools_.reporter.failures()) + ".png", reporter, comm);
}

void Simulation::compute(MPI_Comm comm) {
  while (step_ < options_.steps) {
    const auto begin = std::chrono::steady_clock::now();
    halo_.exchange(field_.cells(), comm);
    field_.advance(step_);
    tools_.work.add(inner_count(field_.block()));
    wait_since(begin);
    ++step_;
    if (step_ % options_.interval == 0) tools_.checkpoint.save(field_, step_);
    show_progress();
  }
}

// Waits until a step that began then has taken its time.
void Simulation::wait_since(std::chrono::steady_clock::time_point begin) const {
  const std::chrono::nanoseconds of_a_cell(options_.pace);
  if (options_.pace > 0) std::this_thread::sleep_until(begin + of_a_cell * inner_count(field_.block()));
}

void Simulation::show_progress() const {
  if (!options_.progress || rank_ != 0 || step_ % std::max(1, options_.steps / 100) != 0) return;
  std::printf("step %d/%d\n", step_, options_.steps);
  std::fflush(stdout);
}

void Simulation::write_picture(const std::string& name, int writer, MPI_Comm comm) {
  const std::vector<double> plate = gather(grid_, field_, writer, comm);
  if (rank_ != writer) return;
  const auto path = std::filesystem::path(options_.out) / name;
  write_png(path, grid_.width, grid_.height, plate);
  std::printf("        picture: %s\n", path.c_str());
  std::fflush(stdout);
}

void Simulation::write_results(MPI_Comm comm) {
  const std::vector<double> plate = gather(grid_, field_, 0, comm);
  if (rank_ != 0) return;
  if (options_.pictures) {
    write_png(std::filesystem::path(options_.out) / "final.png", grid_.width, grid_.height, plate);
  }
  if (!options_.final_file.empty()) write_file(options_.final_file, plate.data(), plate.size() * sizeof(double));
}

}  // namespace heat2d
