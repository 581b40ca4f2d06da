// SPDX-License-Identifier: BSD-3-Clause
#include "simulation.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "files.hpp"
#include "gather.hpp"
#include "png.hpp"

namespace heat2d {

Simulation::Simulation(const Options& options, int rank, int ranks)
    : options_(options),
      rank_(rank),
      grid_(make_grid(options.width, options.height, ranks)),
      field_(grid_, block_of(grid_, rank)),
      halo_(block_of(grid_, rank)),
      checkpoint_(options.depth),
      reporter_(options.out) {
  write_file(std::filesystem::path(options_.out) / "pids" / ("rank-" + std::to_string(rank)),
             std::to_string(getpid()) + "\n");
}

void Simulation::run(MPI_Comm comm) {
  const Resumption from = checkpoint_.resume(comm, field_);
  step_ = from.step;
  report(comm, from);
  compute(comm);
  write_results(comm);
}

void Simulation::report(MPI_Comm comm, const Resumption& from) {
  const int reporter = reporter_.report(comm, from);
  if (reporter >= 0) write_picture("death-" + std::to_string(reporter_.failures()) + ".png", reporter, comm);
}

void Simulation::compute(MPI_Comm comm) {
  while (step_ < options_.steps) {
    halo_.exchange(field_.cells(), comm);
    field_.advance(step_);
    ++step_;
    if (step_ % options_.interval == 0) checkpoint_.save(field_, step_);
    show_progress();
  }
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
  write_png(std::filesystem::path(options_.out) / "final.png", grid_.width, grid_.height, plate);
  if (!options_.final_file.empty()) write_file(options_.final_file, plate.data(), plate.size() * sizeof(double));
}

}  // namespace heat2d
