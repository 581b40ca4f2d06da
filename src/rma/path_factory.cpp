// SPDX-License-Identifier: BSD-3-Clause
#include "rma/path_factory.hpp"

#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include "base/environment.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "rma/fabric/fabric.hpp"
#include "rma/map_path.hpp"
#include "rma/mixed_path.hpp"
#include "rma/window_path.hpp"

namespace fenix_impl {
namespace {

// Whether a rank that takes the place of a dead one of its node takes over its memory.
MapPath::Keep wanted_replacement() {
  return environment::is_on("FENIX_WARM_REPLACEMENT") ? MapPath::Keep::yes : MapPath::Keep::no;
}

// As the environment has it now: what is wrong is refused where a path is needed.
std::string wanted_path() { return environment::is_set("FENIX_PATH") ? environment::text("FENIX_PATH") : "auto"; }

}  // namespace

PathFactory::Choice PathFactory::choose(MpiTeam& team) {
  std::shared_ptr<Path> path;
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
    const std::string name = wanted_path();
    if (name != "fabric" && (name != "auto" || on_one_node)) return;
    (void)network();
    log().info("the network is open before it is needed");
  } catch (const Error& error) {
    log().info("{}", error.what());
  } catch (const std::bad_alloc&) {
    // There may be memory again when it is needed.
  }
}

// Collective: the fabric path if all ranks have it, else windows.
std::shared_ptr<Path> PathFactory::path_across_nodes(MpiTeam& team) {
  std::shared_ptr<Path> across;
  std::string why;
  bool no_memory = false;
  try {
    across = fabric_path();
  } catch (const Error& error) {
    why = error.what();
  } catch (const std::bad_alloc&) {
    no_memory = true;  // the others wait for what this rank says
  }
  // All the same: a rank without libfabric cannot be written to by the others.
  const int first = team.reduce(across != nullptr ? team.size() : team.rank(),
                                [](int& into, int from) { into = std::min(into, from); });
  if (no_memory) throw Error(out_of_memory());
  if (first < team.size()) across = std::make_shared<WindowPath>(team);
  // One rank speaks for all.
  if (!why.empty()) {
    log().log(first == team.rank() ? spdlog::level::warn : spdlog::level::info,
              "{}; ranks on other nodes are reached by the path window, with which data may be lost when several ranks "
              "of a node die",
              why);
  }
  const auto near = std::count(team.near().begin(), team.near().end(), true);
  log().info("ranks on this node, by the path map: {}; on others, by the path {}: {}", near, across->name(),
             team.size() - near);
  return std::make_shared<MixedPath>(std::move(across), wanted_replacement(), team.near());
}

std::shared_ptr<Path> PathFactory::named_path(MpiTeam& team) {
  const std::string name = wanted_path();
  if (name == "window") return std::make_shared<WindowPath>(team);
  if (name == "fabric") return fabric_path();
  if (name == "map" && !team.on_one_node()) {
    throw Error(FENIX_ERROR_GROUP_CREATE, "FENIX_PATH is map, but the ranks of comm are on several nodes");
  }
  if (name != "map" && name != "auto") {
    throw Error(FENIX_ERROR_GROUP_CREATE, environment::mistake_in(*environment::Name("FENIX_PATH")));
  }
  return std::make_shared<MapPath>(wanted_replacement());
}

}  // namespace fenix_impl
