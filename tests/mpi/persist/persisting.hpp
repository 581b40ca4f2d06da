// SPDX-License-Identifier: BSD-3-Clause
// Short forms for tests of persistent communicators.
#pragma once

#include <mpi.h>

#include <string>
#include <utility>
#include <vector>

#include "../check.hpp"
#include "../interposition/comms.hpp"

/// Fails with the condition and its line.
#define CHECK(...) check::require((__VA_ARGS__), "line " + std::to_string(__LINE__) + ": " #__VA_ARGS__)

using Hints = std::vector<std::pair<const char*, const char*>>;

/// Makes a persistent communicator with these hints. In resume mode "return" a call that a death has cut short is repeated.
inline MPI_Comm persist(MPI_Comm comm, const char* key, const Hints& hints = {}) {
  MPI_Info info = MPI_INFO_NULL;
  if (!hints.empty()) MPI_Info_create(&info);
  for (const auto& [name, value] : hints) MPI_Info_set(info, name, value);
  MPI_Comm made = MPI_COMM_NULL;
  int code = MPI_SUCCESS;
  do {
    code = MPI_Comm_persist(comm, key, info, &made);
  } while (code != MPI_SUCCESS && is_failure(code));
  CHECK(code == MPI_SUCCESS);
  if (info != MPI_INFO_NULL) MPI_Info_free(&info);
  return made;
}
