// SPDX-License-Identifier: BSD-3-Clause
// Teams on communicators of the application, and their paths.
#pragma once

#include <mpi.h>

#include <memory>
#include <mutex>
#include <vector>

#include "recovery/process/process.hpp"
#include "rma/mpi_team.hpp"
#include "rma/path_factory.hpp"

namespace fenix_impl {

class TeamFactory {
 public:
  /// process must outlive it.
  explicit TeamFactory(Process& process) : process_(process) {}

  /// inherited: handler by which repairs find communicators that they revoke. copying: one that reacts to errors in the same way.
  void begin(MPI_Errhandler inherited, MPI_Errhandler copying) {
    inherited_ = inherited;
    copying_ = copying;
  }
  /// Revokes the communicators of which copies are being made: a repair begins. Local.
  void end_copies();

  struct NewTeam {
    std::shared_ptr<MpiTeam> team;
    std::vector<int> ranks;  ///< in the resilient communicator
  };

  /// Makes a team when all ranks have come. Collective over comm. Throws Error(FENIX_ERROR_NO_MEMORY) on all ranks if one lacks memory.
  [[nodiscard]] NewTeam make(MPI_Comm comm);
  /// Chooses a path, as PathFactory::choose does.
  [[nodiscard]] PathFactory::Choice choose_path(MpiTeam& team) { return paths_.choose(team); }
  /// Tells the others that this rank has no memory for what they do together. met: it has met them. Collective over comm.
  void withdraw_from(MPI_Comm comm, bool met = false) noexcept;
  /// Closes the network as soon as nobody uses it. Local.
  void close_paths() { paths_.close(); }
  /// Prepares the network for the teams that this process will be in. Local; takes a fraction of a second.
  void prepare_paths() noexcept { paths_.prepare(process_.members().on_one_node()); }

 private:
  class Copied;
  [[nodiscard]] std::shared_ptr<MpiTeam> copy(MPI_Comm comm, std::vector<bool> near);

  Process& process_;
  MPI_Errhandler inherited_ = MPI_ERRHANDLER_NULL;
  MPI_Errhandler copying_ = MPI_ERRHANDLER_NULL;
  std::mutex mutex_;  // of copied_
  std::vector<MPI_Comm> copied_;
  PathFactory paths_;
};

}  // namespace fenix_impl
