// SPDX-License-Identifier: BSD-3-Clause
// The folder that FENIX_STORE names, for tests of which one job is all that uses it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "check.hpp"

namespace check {

inline std::string store_folder() {
  const char* const name = std::getenv("FENIX_STORE");
  return name != nullptr ? name : "";
}

/// Makes the folder, without what an earlier test may have left there. All ranks of MPI_COMM_WORLD.
inline void make_store() {
  int rank = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  require(!store_folder().empty(), "FENIX_STORE is not set");
  if (rank == 0) {
    std::filesystem::remove_all(store_folder());
    std::filesystem::create_directories(store_folder());
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/// Removes the folder when all ranks have come. All ranks of MPI_COMM_WORLD.
inline void remove_store() {
  int rank = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) std::filesystem::remove_all(store_folder());
}

}  // namespace check
