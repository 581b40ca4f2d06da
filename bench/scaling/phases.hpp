// SPDX-License-Identifier: BSD-3-Clause
// The calls of MPI in each phase of a run, and its time.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "counting.hpp"

namespace scaling {

struct Phase {
  Counts counts{};  ///< the most of all repetitions
  std::vector<double> seconds;
};

class Phases {
 public:
  /// Begins a phase: counts from here on belong to the phase that end() names.
  void begin();
  void end(const std::string& name);
  /// begin, work, end; where comm is given, all of it meets there first.
  template <class Work>
  void measure(const std::string& name, MPI_Comm comm, Work&& work) {
    PMPI_Barrier(comm);
    begin();
    work();
    end(name);
  }
  void set_seconds(const std::string& name, double seconds) { phases_[name].seconds = {seconds}; }

  /// Collective: rank 0 prints a line of JSON for each of the names: the most of any rank, the sum over all ranks, and the median of
  /// the time of the slowest rank. A phase that a rank has not had counts nothing there.
  void print(MPI_Comm comm, const std::vector<std::string>& names, const std::string& head);

 private:
  std::map<std::string, Phase> phases_;
  Counts before_{};
  double start_ = 0;
};

}  // namespace scaling
