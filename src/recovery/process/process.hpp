// SPDX-License-Identifier: BSD-3-Clause
// This process among the others: how it starts, what it has of them, and how it finishes.
#pragma once

#include <mpi.h>

#include <functional>

#include "recovery/process/communicators.hpp"
#include "recovery/process/meetings.hpp"
#include "recovery/process/membership.hpp"
#include "recovery/process/repair.hpp"
#include "recovery/process/standby.hpp"
#include "recovery/process/world_builder.hpp"
#include "rma/silence_watch.hpp"
#include "rma/team.hpp"

namespace fenix_impl {

class Process {
 public:
  /// Starts with the living ranks of comm. Ranks that have died are replaced by spares, or left out. Collective over
  /// comm. check: compares arguments on the living ranks. Throws the Error of check, on all ranks. Throws MpiError.
  void start(MPI_Comm comm, int spares, const ErrorHandlers& handlers, const std::function<void(MPI_Comm)>& check);

  /// Starts a process that was spawned to replace a dead rank, instead of start(): takes part in the repair that it was
  /// spawned for. Returns false if it is not needed any more. Collective over MPI_COMM_WORLD.
  [[nodiscard]] bool start_as_replacement(const ErrorHandlers& handlers);

  /// Lets a process that has not started be a spare that was released.
  void pass_as_spare() { members_.begin_as_released(); }

  [[nodiscard]] const Communicators& comms() const { return comms_; }
  [[nodiscard]] Communicators& comms() { return comms_; }
  [[nodiscard]] const Membership& members() const { return members_; }
  [[nodiscard]] Membership& members() { return members_; }
  [[nodiscard]] const Repair& repair() const { return repair_; }
  [[nodiscard]] Repair& repair() { return repair_; }
  [[nodiscard]] Standby& standby() { return standby_; }
  [[nodiscard]] Meetings& meetings() { return meetings_; }
  /// Returns the watch over processes for which others wait inside of MPI.
  [[nodiscard]] SilenceWatch& watch() { return watch_; }

  /// Runs work with the active ranks. Collective over them. Throws as Team does.
  void run_with_active(const std::function<void(Team& team)>& work);

  /// Finishes an active rank: calls before_end when all have agreed to finish. The resilient communicator stays. Returns
  /// false if a repair was due instead, which it has then done; before_repair is called first. Throws PeerFailure if a
  /// repair is to follow. If deaths are not repaired, the living finish without the dead.
  bool finish(bool repairs, const std::function<void()>& before_repair, const std::function<void()>& before_end);

 private:
  bool try_start(MPI_Comm living, const std::function<void(MPI_Comm)>& check);

  SilenceWatch watch_;
  Communicators comms_{watch_};
  Membership members_{watch_};
  Meetings meetings_{comms_, members_};
  WorldBuilder builder_{comms_, members_, meetings_};
  Repair repair_{comms_, members_, builder_, watch_};
  Standby standby_{comms_, members_, repair_, watch_};
};

}  // namespace fenix_impl
