// SPDX-License-Identifier: BSD-3-Clause
// Instead of the other fabric_ files, where there is no libfabric to compile with.
#include "base/error.hpp"
#include "rma/fabric/fabric.hpp"

namespace fenix_impl {
namespace {

[[noreturn]] void refuse() {
  throw Error(FENIX_ERROR_GROUP_CREATE, "this library was built without libfabric: there is no fabric path");
}

}  // namespace

std::shared_ptr<FabricNetwork> open_fabric(Unfit) { refuse(); }

std::vector<FabricFinding> examine_fabric() { refuse(); }

std::string provider_of(const FabricNetwork&) { refuse(); }

std::shared_ptr<Path> make_fabric_path(std::shared_ptr<FabricNetwork>) { refuse(); }

}  // namespace fenix_impl
