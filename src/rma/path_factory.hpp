// SPDX-License-Identifier: BSD-3-Clause
// The choice of a path for a team: FENIX_PATH, the nodes that its ranks run on, and what the network offers.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "rma/fabric/fabric.hpp"
#include "rma/mpi_team.hpp"
#include "rma/path.hpp"

namespace fenix_impl {

/// One for each process: all its fabric paths share one endpoint.
class PathFactory {
 public:
  using Choice = std::function<std::shared_ptr<Path>()>;

  /// Collective over the team if its ranks are on several nodes, else local. Returns the local rest of the choice, which throws
  /// Error(FENIX_ERROR_GROUP_CREATE) if FENIX_PATH asks for what this team cannot have. The team must outlive the path.
  [[nodiscard]] Choice choose(MpiTeam& team);
  /// Opens the endpoint beforehand, if choose() may need it for a team on one or several nodes. Local; takes a fraction of a second.
  /// Errors are left for choose().
  void prepare(bool on_one_node) noexcept;
  /// Closes the endpoint as soon as the last path has gone. Local.
  void close() { fabric_.reset(); }

 private:
  std::shared_ptr<FabricNetwork> network();
  std::shared_ptr<Path> fabric_path();
  std::shared_ptr<Path> path_across_nodes(MpiTeam& team);
  std::shared_ptr<Path> named_path(MpiTeam& team);

  std::mutex mutex_;                       // of fabric_ and unfit_
  std::shared_ptr<FabricNetwork> fabric_;  // made when a group first needs it
  std::optional<UnfitProvider> unfit_;     // once found, it stays: to find out may take seconds
};

}  // namespace fenix_impl
