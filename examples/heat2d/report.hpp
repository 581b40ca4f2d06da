// SPDX-License-Identifier: BSD-3-Clause
//
// Tells who died, who took over, and how long it took.
#ifndef HEAT2D_REPORT_HPP
#define HEAT2D_REPORT_HPP

#include <mpi.h>

#include <filesystem>
#include <iosfwd>
#include <vector>

#include "checkpoint.hpp"

namespace heat2d {

/// What each rank tells the others when all of them have resumed. Times are in seconds of the epoch, 0 if not known.
struct News {
  int process;
  int world_rank;
  int step;      ///< in which the rank was interrupted; −1 if it was not
  int recent;    ///< deaths that it knows of and that were not reported yet
  int deaths;    ///< deaths that it knows of
  int failures;  ///< reports so far
  double noticed;
  double repaired;
  double restored;
};

class Reporter {
 public:
  explicit Reporter(std::filesystem::path out);

  /// Local: to be called by the survivors right after a repair, with the step that was interrupted.
  void note_failure(int step);

  /// Collective, when all ranks have resumed: has one of them print what happened since the last report.
  /// Returns the rank that did, or −1 if nothing happened.
  int report(MPI_Comm comm, const Resumption& from);

  int failures() const { return failures_; }
  int deaths() const { return deaths_; }

 private:
  std::vector<News> exchange(MPI_Comm comm) const;
  void print(const std::vector<News>& news, const Resumption& from) const;
  void print_death(std::ostream& text, int dead, const std::vector<News>& news) const;
  void print_times(std::ostream& text, const std::vector<News>& news) const;
  int process_of(int dead) const;
  double time_of_first_kill() const;

  std::filesystem::path out_;
  std::vector<int> processes_;  // by rank, as of the last report
  std::vector<int> recent_;     // the dead since the last report, by their rank
  int step_ = -1;
  double noticed_ = 0.0;
  int failures_ = 0;
  int deaths_ = 0;
};

}  // namespace heat2d

#endif
