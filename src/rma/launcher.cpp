// SPDX-License-Identifier: BSD-3-Clause
#include "rma/launcher.hpp"

#include <mpi.h>

#include <array>
#include <cstdlib>
#include <cstring>

namespace fenix_impl {

bool launcher_survives_loss_of_node() {
  if (std::getenv("PRTE_SURVIVES_NODE_LOSS") != nullptr) return true;
  constexpr const char* kName = "Open MPI v";
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> version{};
  int length = 0;
  MPI_Get_library_version(version.data(), &length);
  const char* name = std::strstr(version.data(), kName);
  return name != nullptr && std::atoi(name + std::strlen(kName)) >= 6;
}

}  // namespace fenix_impl
