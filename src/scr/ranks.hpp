// SPDX-License-Identifier: BSD-3-Clause
// Agreement between ranks. Each function is collective, and says on all ranks the same, unless a rank has died.
#pragma once

#include <mpi.h>

#include <optional>
#include <string>
#include <vector>

namespace scr_impl {

int rank_of(MPI_Comm comm);
int size_of(MPI_Comm comm);

/// Tells whether it holds on all ranks.
bool agree(MPI_Comm comm, bool holds);
/// Gives the text of rank 0 to all. Returns false if a rank has died.
bool broadcast(MPI_Comm comm, std::string& text);

/// Files that ranks have written together.
struct SharedFiles {
  std::vector<bool> is_own;      ///< of each name that was given: this rank is the first one that has it
  std::string shared;            ///< a name that several ranks have, or empty
  std::vector<std::string> all;  ///< on rank 0: each name once
};

/// Compares the names of files over ranks. Returns nothing if a rank has died, or if there are too many names.
std::optional<SharedFiles> compare_files(MPI_Comm comm, const std::vector<std::string>& names);

}  // namespace scr_impl
