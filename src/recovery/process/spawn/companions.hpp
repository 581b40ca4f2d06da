// SPDX-License-Identifier: BSD-3-Clause
// Processes that are spawned together tell the recruiter which of them have died: Open MPI does not tell the parent of a process
// (tests/open_mpi/README.md).
#pragma once

#include <mpi.h>

#include <utility>
#include <vector>

#include "rma/quiet_comm.hpp"

namespace fenix_impl {

/// The side of a spawned process.
class CompanionWatch {
 public:
  /// recruiter: the communicator to it. Local.
  explicit CompanionWatch(MPI_Comm recruiter);
  CompanionWatch(const CompanionWatch&) = delete;
  CompanionWatch& operator=(const CompanionWatch&) = delete;
  ~CompanionWatch();

  /// Tells the recruiter of those that have died since the last look. Local.
  void look();

 private:
  MPI_Comm recruiter_;
  QuietComm quiet_;
  std::vector<std::pair<int, MPI_Request>>
      living_;  ///< ranks, and receives of what they never send: those end with an error at a death
};

/// The recruiter's side: returns the processes that others have told it have died. Local.
[[nodiscard]] std::vector<int> told_deaths(MPI_Comm children, int count);

}  // namespace fenix_impl
