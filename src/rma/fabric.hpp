// SPDX-License-Identifier: BSD-3-Clause
// Across nodes, by libfabric: what the other layers know of it. Also there if the library was built without.
#pragma once

#include <memory>
#include <string>

#include "rma/path.hpp"

namespace fenix_impl {

/// The network of a process: one endpoint, for all its groups.
class FabricNetwork;

/// Local: loads libfabric and opens an endpoint with the provider that it puts first, or with that of FI_PROVIDER.
/// Takes a fraction of a second. Throws Error(FENIX_ERROR_GROUP_CREATE) saying why there is none. Signal handlers stay
/// as they are.
std::shared_ptr<FabricNetwork> open_fabric();

/// As libfabric names it.
[[nodiscard]] std::string provider_of(const FabricNetwork& network);

/// The path "fabric". Its remote regions use the network, and any number of paths share one.
std::shared_ptr<Path> make_fabric_path(std::shared_ptr<FabricNetwork> network);

}  // namespace fenix_impl
