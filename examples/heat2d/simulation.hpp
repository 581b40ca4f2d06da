// SPDX-License-Identifier: BSD-3-Clause
//
// Part of one rank in the computation, with the data that remains on it when other ranks die.
#ifndef HEAT2D_SIMULATION_HPP
#define HEAT2D_SIMULATION_HPP

#include <mpi.h>

#include "checkpoint.hpp"
#include "field.hpp"
#include "grid.hpp"
#include "halo.hpp"
#include "options.hpp"
#include "report.hpp"

namespace heat2d {

class Simulation {
 public:
  Simulation(const Options& options, int rank, int ranks);

  /// Computes from the newest checkpoint, or from step 0, to the end, and writes the results. Collective. Throws
  /// fenix::CommException after a failure: call note_failure, then run again on the repaired communicator.
  void run(MPI_Comm comm);
  void note_failure() { reporter_.note_failure(step_); }

  int deaths() const { return reporter_.deaths(); }

 private:
  void report(MPI_Comm comm, const Resumption& from);
  void compute(MPI_Comm comm);
  void show_progress() const;
  void write_picture(const std::string& name, int writer, MPI_Comm comm);
  void write_results(MPI_Comm comm);

  Options options_;
  int rank_;
  Grid grid_;
  Field field_;
  Halo halo_;
  Checkpoint checkpoint_;
  Reporter reporter_;
  int step_ = 0;
};

}  // namespace heat2d

#endif
