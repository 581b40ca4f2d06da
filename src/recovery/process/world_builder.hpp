// SPDX-License-Identifier: BSD-3-Clause
// The making of communicators from the living: at the start, and in each turn of a repair.
#pragma once

#include <mpi.h>

#include <vector>

#include "recovery/process/communicators.hpp"
#include "recovery/process/meetings.hpp"
#include "recovery/process/membership.hpp"
#include "recovery/process/repair_plan.hpp"

namespace fenix_impl {

/// The communicators that have been made of the living, before all have agreed to them.
struct NewWorld {
  std::vector<Seat> seats;  ///< by rank among the living
  RepairPlan plan;
  MPI_Comm world = MPI_COMM_NULL;
  MPI_Comm resilient = MPI_COMM_NULL;
};

class WorldBuilder {
 public:
  enum class Occasion { start, repair };

  /// All must outlive it.
  WorldBuilder(Communicators& comms, Membership& members, Meetings& meetings)
      : comms_(comms), members_(members), meetings_(meetings) {}

  /// Makes one. Where it throws, those that are there have to be revoked. Collective over living. Throws Error, MpiError, PeerFailure.
  void build(MPI_Comm living, NewWorld& made, Occasion occasion);
  /// Takes it as the present one. Local.
  void adopt(const NewWorld& made, Occasion occasion);

 private:
  Communicators& comms_;
  Membership& members_;
  Meetings& meetings_;
};

}  // namespace fenix_impl
