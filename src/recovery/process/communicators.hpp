// SPDX-License-Identifier: BSD-3-Clause
// The two communicators of a process. world holds all living processes: the active ones first, in the order of the resilient communicator, then
// the spares.
#pragma once

#include <mpi.h>

#include <vector>

#include "rma/silence_watch.hpp"

namespace fenix_impl {

/// Handlers for errors on resilient communicators. Each is inherited by communicators that are derived from one that has it.
struct ErrorHandlers {
  MPI_Errhandler present = MPI_ERRHANDLER_NULL;
  MPI_Errhandler stale =
      MPI_ERRHANDLER_NULL;  ///< of communicators from before a repair, also those that have been freed
};

class Communicators {
 public:
  /// watch must outlive it.
  explicit Communicators(SilenceWatch& watch) : watch_(watch) {}

  void set_handlers(const ErrorHandlers& handlers) { handlers_ = handlers; }
  /// Takes another world, from which the next turn of a repair starts.
  void set_world(MPI_Comm world) { world_ = world; }
  /// Takes the first ones. resilient: MPI_COMM_NULL in spares.
  void adopt_first(MPI_Comm world, MPI_Comm resilient);
  /// Takes those that a repair has made. The earlier ones get the handler for stale ones. Local.
  void adopt_repaired(MPI_Comm world, MPI_Comm resilient);

  [[nodiscard]] MPI_Comm world() const { return world_; }
  [[nodiscard]] MPI_Comm resilient() const { return resilient_; }
  /// Returns the handle that the program has for the resilient communicator: with libfenix_mpi it never changes.
  [[nodiscard]] MPI_Comm name() const;
  /// Returns the ranks in the resilient communicator of the ranks of another one. Throws
  /// Error(FENIX_ERROR_INVALID_ARGUMENT) if that has other ranks as well.
  [[nodiscard]] std::vector<int> ranks_of(MPI_Comm comm) const;
  /// Returns these ranks of the resilient communicator as a group, which the caller frees. Local.
  [[nodiscard]] MPI_Group group_of(const std::vector<int>& ranks) const;

  /// Returns the MPI error that tells of a death or of a repair under way, or MPI_SUCCESS. Local.
  [[nodiscard]] int look_for_failures() const;
  /// Revokes the communicators: all ranks, and all threads of this one, come out of their calls. Local. It may be
  /// called while other threads use them.
  void call_all_to_repair();
  /// Lets errors on the resilient communicator and derived ones be returned from now on, and frees the world. The resilient one stays.
  void end();

 private:
  void take(MPI_Comm resilient);

  SilenceWatch& watch_;
  MPI_Comm world_ = MPI_COMM_NULL;
  MPI_Comm resilient_ = MPI_COMM_NULL;
  ErrorHandlers handlers_;
};

}  // namespace fenix_impl
