// SPDX-License-Identifier: BSD-3-Clause
//
// Part of one rank in the computation. It remains when other ranks die, and is made anew when fewer ranks go on.
#ifndef HEAT2D_SIMULATION_HPP
#define HEAT2D_SIMULATION_HPP

#include <mpi.h>

#include <chrono>

#include "checkpoint.hpp"
#include "field.hpp"
#include "grid.hpp"
#include "halo.hpp"
#include "options.hpp"
#include "report.hpp"
#include "work.hpp"

namespace heat2d {

/// Objects that a simulation uses, and that live longer.
struct Tools {
  Checkpoint& checkpoint;
  Reporter& reporter;
  Work& work;
};

class Simulation {
 public:
  Simulation(const Options& options, int rank, int ranks, const Tools& tools);

  /// Computes from the newest checkpoint, or from step 0, to the end, and writes the results. Collective. Throws
  /// fenix::CommException after a failure: call note_failure, then run again on the repaired communicator.
  void run(MPI_Comm comm);
  void note_failure() { tools_.reporter.note_failure(step_); }

  /// Whether the simulation can go on with this number and so many ranks.
  bool is_for(int rank, int ranks) const { return rank == rank_ && ranks == grid_.columns * grid_.rows; }

 private:
  void report(MPI_Comm comm, const Resumption& from);
  void compute(MPI_Comm comm);
  void wait_since(std::chrono::steady_clock::time_point begin) const;
  void show_progress() const;
  void write_picture(const std::string& name, int writer, MPI_Comm comm);
  void write_results(MPI_Comm comm);

  Options options_;
  int rank_;
  Grid grid_;
  Field field_;
  Halo halo_;
  Tools tools_;
  int step_ = 0;
};

}  // namespace heat2d

#endif
