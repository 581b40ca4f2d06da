// SPDX-License-Identifier: BSD-3-Clause
// The ranks that measure together, and how an error ends the run.
#pragma once

#include <fenix.h>

#include <string>
#include <vector>

#include "times.hpp"

namespace bench {

/// Prints the text and the library's, and ends all ranks.
[[noreturn]] void fail(const std::string& what);

/// Fails unless the code of a Fenix or MPI function is that of success.
void check(int code, const char* call);

/// The resilient communicator, which is another one after each repair.
class Team {
 public:
  /// comm: where Fenix_Init has put it, and puts it again.
  explicit Team(const MPI_Comm& comm) : comm_(comm) {}

  [[nodiscard]] MPI_Comm comm() const { return comm_; }
  [[nodiscard]] int rank() const;
  [[nodiscard]] int size() const;
  [[nodiscard]] bool writes() const { return rank() == 0; }
  [[nodiscard]] int nodes() const;

  void barrier() const;
  /// Rank 0 gets what all have, in their order; others get nothing.
  [[nodiscard]] std::vector<double> gather(double mine) const;
  /// The greatest of all, on all.
  [[nodiscard]] double greatest(double mine) const;
  /// The sum of all, on all.
  [[nodiscard]] double sum(double mine) const;
  /// Adds the times of a repetition on rank 0.
  void record(double mine, Times& times) const;

 private:
  const MPI_Comm& comm_;
};

}  // namespace bench
