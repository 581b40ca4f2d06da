// SPDX-License-Identifier: BSD-3-Clause
//
// Reports which ranks died, which ranks replaced them, and how long the recovery took.
#ifndef HEAT2D_REPORT_HPP
#define HEAT2D_REPORT_HPP

#include <mpi.h>

#include <filesystem>
#include <iosfwd>
#include <vector>

#include "checkpoint.hpp"

namespace heat2d {

/// Whether the library has spawned this process, to replace a rank.
bool is_spawned();

/// Data that the ranks exchange when all of them have resumed. Times are in seconds since the epoch, 0 if not known.
struct News {
  int process;
  int world_rank;
  int spawned;   ///< 1 for a process that was spawned, otherwise 0
  int step;      ///< step in which the rank was interrupted; −1 if it was not
  int recent;    ///< deaths that it knows of, and that were not reported yet
  int deaths;    ///< deaths that it knows of
  int failures;  ///< reports so far
  double noticed;
  double repaired;
  double restored;
};

class Reporter {
 public:
  explicit Reporter(std::filesystem::path out);

  /// Records a failure. Survivors call it immediately after a repair, with the step that was interrupted. Local.
  void note_failure(int step);

  /// Reports the failures since the last report: one rank prints them. Collective, when all ranks have resumed.
  /// Returns the rank that printed, or −1 if there was no failure.
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
  std::vector<int> processes_;  // process of each rank, at the time of the last report
  std::vector<int> recent_;     // ranks that have died since the last report
  int step_ = -1;
  double noticed_ = 0.0;
  int failures_ = 0;
  int deaths_ = 0;
};

}  // namespace heat2d

#endif
