// SPDX-License-Identifier: BSD-3-Clause
// One call of a constructor of communicators by the program.
#pragma once

#include <mpi.h>

#include "mpi/derived.hpp"

namespace fenix_impl {

/// A call that is under way. It has no destructor: control may leave by longjmp.
struct Derivation {
  MPI_Comm parent_name = MPI_COMM_NULL;
  Constructor constructor = Constructor::dup;
  std::uint64_t site = 0;
  std::uint64_t id = 0;
  std::uint64_t parent = 0;
  std::uint64_t order = 0;
  bool tracked = false;  ///< the parent is resilient: what is made is repaired
  bool done = false;     ///< a repair has made the communicator: newcomm is written
};

/// Begins a call. caller: its return address. group: of MPI_Comm_create_group, and a tag, otherwise MPI_GROUP_NULL. Local.
[[nodiscard]] Derivation begin_derivation(MPI_Comm parent, Constructor constructor, const void* caller,
                                          MPI_Comm* newcomm, MPI_Group group = MPI_GROUP_NULL, int tag = 0);

/// Ends a call: notes what MPI has made, when all callers have it. Collective over the callers. Returns the error of MPI; after an error
/// newcomm is MPI_COMM_NULL.
int end_derivation(const Derivation& derivation, int error, MPI_Comm* newcomm);

}  // namespace fenix_impl
