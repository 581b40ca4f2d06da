// SPDX-License-Identifier: BSD-3-Clause
// One call of a constructor of communicators by the program.
#pragma once

#include <mpi.h>

#include "mpi/base/derived.hpp"

namespace fenix_impl {

/// A call that is under way. It has no destructor: control may leave by longjmp.
struct Derivation {
  MPI_Comm parent_name = MPI_COMM_NULL;
  Constructor constructor = Constructor::dup;
  std::uint64_t site = 0;
  std::uint64_t id = 0;
  std::uint64_t parent = 0;
  std::uint64_t order = 0;
  std::uint64_t group = 0;   ///< of MPI_Comm_create_group, otherwise 0
  std::uint64_t recipe = 0;  ///< see Recipe
  bool tracked = false;      ///< the parent is resilient: what is made is repaired
  bool done = false;         ///< a repair has made the communicator: newcomm is written
  bool is_new = false;       ///< done, and the program of this process has not had it yet
};

/// A call of a constructor by the program.
struct ConstructorCall {
  MPI_Comm parent = MPI_COMM_NULL;
  Constructor constructor = Constructor::dup;
  const void* caller = nullptr;  ///< return address of the call
  MPI_Comm* newcomm = nullptr;
  std::uint64_t recipe = 0;          ///< see Recipe; 0: what is made serves this call only
  MPI_Group group = MPI_GROUP_NULL;  ///< of MPI_Comm_create_group
  int tag = 0;                       ///< likewise
};

/// Begins a call. Local.
[[nodiscard]] Derivation begin_derivation(const ConstructorCall& call);

/// Takes back the number of a call in which MPI has found something wrong: other ranks may not have called it. Local.
void take_back_number(const Derivation& derivation);

/// Copies the attributes of the parent to a duplicate: they belong to the name of the parent, for which another communicator may
/// stand. MPI has not done so. Returns the error of a copy function, after the error handler; newcomm is MPI_COMM_NULL then. Local.
int inherit_attributes(MPI_Comm parent, MPI_Comm* newcomm);

/// Begins to make a duplicate that MPI completes later. Its name is a communicator of this process alone, because the one that MPI
/// makes is gone if a rank dies meanwhile. start: calls MPI for a parent and a place for the new communicator. Local.
int derive_later(const Derivation& derivation, MPI_Comm* newcomm,
                 int (*start)(MPI_Comm, MPI_Info, MPI_Comm*, MPI_Request*), MPI_Info info, MPI_Request* request);

/// Ends a call: notes what MPI has made, when all callers have it. Collective over the callers. Returns the error of MPI; after an error
/// newcomm is MPI_COMM_NULL.
int end_derivation(const Derivation& derivation, int error, MPI_Comm* newcomm);
/// Has a communicator that has served a call before look like a new one.
void forget_former_life(Derived& derived);
/// Returns how many hints a communicator has.
[[nodiscard]] int count_info_keys(MPI_Comm comm);

}  // namespace fenix_impl
