// SPDX-License-Identifier: BSD-3-Clause
#include "rma/path_factory.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"
#include "rma/fabric.hpp"
#include "rma/launcher.hpp"
#include "rma/map_path.hpp"
#include "rma/mixed_path.hpp"
#include "rma/window_path.hpp"

namespace fenix_impl {
namespace {

// Whether a rank that takes the place of a dead one of its node takes over its memory.
MapPath::Keep wanted_replacement() {
  const char* wanted = std::getenv("FENIX_WARM_REPLACEMENT");
  return wanted != nullptr && std::string_view(wanted) == "off" ? MapPath::Keep::no : MapPath::Keep::yes;
}

std::string_view wanted_path() {
  const char* wanted = std::getenv("FENIX_PATH");
  return wanted != nullptr ? wanted : "auto";
}

}  // namespace

PathFactory::Choice PathFactory::choose(MpiTeam& team) {
  std::shared_ptr<Path> path;
  if (!team.on_one_node()) warn_of_launcher(team);
  if (!team.on_one_node() && wanted_path() == "auto") path = path_across_nodes(team);
  return [this, &team, path = std::move(path)] { return path ? path : named_path(team); };
}

std::shared_ptr<FabricNetwork> PathFactory::network() {
  const std::lock_guard lock(mutex_);
  if (unfit_) throw UnfitProvider(*unfit_);
  try {
    if (!fabric_) fabric_ = open_fabric();
  } catch (const UnfitProvider& unfit) {
    unfit_.emplace(unfit);
    throw;
  }
  return fabric_;
}

std::shared_ptr<Path> PathFactory::fabric_path() { return make_fabric_path(network()); }

void PathFactory::prepare(bool on_one_node) noexcept {
  try {
    const std::string_view name = wanted_path();
    if (name != "fabric" && (name != "auto" || on_one_node)) return;
    (void)network();
    log().info("the network is open before it is needed");
  } catch (const Error& error) {
    log().info("{}", error.what());
  } catch (const std::bad_alloc&) {
    // There may be memory again when it is needed.
  }
}

// Says once, at the first group on several nodes, what deaths of ranks alone do not show.
void PathFactory::warn_of_launcher(const MpiTeam& team) {
  if (launcher_known_.exchange(true) || team.rank() != 0 || launcher_survives_loss_of_node()) return;
  log().warn(
      "this mpirun ends the job when a node is lost with its daemon; the one that scripts/bootstrap builds, and that "
      "of Open MPI 6, go on without it");
}

// Collective: the fabric path if all ranks have it, else windows.
std::shared_ptr<Path> PathFactory::path_across_nodes(MpiTeam& team) {
  std::shared_ptr<Path> across;
  bool no_memory = false;
  try {
    across = fabric_path();
  } catch (const UnfitProvider& unfit) {
    // Once on each node.
    const auto first = std::find(team.near().begin(), team.near().end(), true) - team.near().begin();
    log().log(first == team.rank() ? spdlog::level::warn : spdlog::level::info,
              "{}; ranks on other nodes are reached by the path window", unfit.what());
  } catch (const Error& error) {
    log().info("{}", error.what());
  } catch (const std::bad_alloc&) {
    no_memory = true;  // the others wait for what this rank says
  }
  // All the same: a rank without libfabric cannot be written to by the others.
  const bool all_can = team.all_of(across != nullptr);
  if (no_memory) throw Error(out_of_memory());
  if (!all_can) across = std::make_shared<WindowPath>(team);
  const auto near = std::count(team.near().begin(), team.near().end(), true);
  log().info("ranks on this node, by the path map: {}; on others, by the path {}: {}", near, across->name(),
             team.size() - near);
  return std::make_shared<MixedPath>(std::move(across), wanted_replacement(), team.near());
}

std::shared_ptr<Path> PathFactory::named_path(MpiTeam& team) {
  const std::string_view name = wanted_path();
  if (name == "window") return std::make_shared<WindowPath>(team);
  if (name == "fabric") return fabric_path();
  if (name == "map" && !team.on_one_node()) {
    throw Error(FENIX_ERROR_GROUP_CREATE, "FENIX_PATH is map, but the ranks of comm are on several nodes");
  }
  if (name != "map" && name != "auto") {
    throw Error(FENIX_ERROR_GROUP_CREATE, "FENIX_PATH is neither auto, map, fabric nor window");
  }
  return std::make_shared<MapPath>(wanted_replacement());
}

}  // namespace fenix_impl
