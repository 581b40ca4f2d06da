// SPDX-License-Identifier: BSD-3-Clause
// Across nodes, by libfabric: what the other layers know of it. Also there if the library was built without.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "rma/path.hpp"

namespace fenix_impl {

/// The network of a process: one endpoint, for all its groups.
class FabricNetwork;

/// There is a provider, and data would not be safe with it.
class UnfitProvider : public Error {
 public:
  explicit UnfitProvider(const std::string& text) : Error(FENIX_ERROR_GROUP_CREATE, text) {}
};

/// Ways to treat a provider that is not as the paths need it.
enum class Unfit { is_refused, is_taken };

/// Local: loads libfabric and opens an endpoint with the provider that it puts first, or with that of FI_PROVIDER.
/// Takes a fraction of a second. Throws Error(FENIX_ERROR_GROUP_CREATE) saying why there is none, and UnfitProvider. Signal
/// handlers stay as they are.
std::shared_ptr<FabricNetwork> open_fabric(Unfit unfit = Unfit::is_refused);

/// One thing that was found out about a provider.
struct FabricFinding {
  std::string what;
  std::string found;
  bool good = false;  ///< the library needs it so
};

/// Looks at the provider that open_fabric() would take, also if it would refuse it. Takes seconds. Throws as open_fabric() does,
/// and Error(FENIX_ERROR_NO_MEMORY).
std::vector<FabricFinding> examine_fabric();

/// As libfabric names it.
[[nodiscard]] std::string provider_of(const FabricNetwork& network);

/// The path "fabric". Its remote regions use the network, and any number of paths share one.
std::shared_ptr<Path> make_fabric_path(std::shared_ptr<FabricNetwork> network);

}  // namespace fenix_impl
