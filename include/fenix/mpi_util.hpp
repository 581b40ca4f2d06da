// SPDX-License-Identifier: BSD-3-Clause
//
// Short forms of calls of MPI, for tests and examples of the current Fenix. All of them are local.
#ifndef FENIX_MPI_UTIL_HPP
#define FENIX_MPI_UTIL_HPP

#include <mpi.h>

namespace fenix::util {

/// Calls MPI_Comm_size.
/// @param comm a communicator, not MPI_COMM_NULL
/// @return the number of its ranks, at least 1; those of this side, if it is an intercommunicator
inline int comm_size(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

/// Calls MPI_Comm_rank.
/// @param comm a communicator, not MPI_COMM_NULL
/// @return the number of this rank in it, in [0, size)
inline int comm_rank(MPI_Comm comm) {
  int rank = MPI_PROC_NULL;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

/// Calls MPI_Type_size.
/// @param type a datatype, or MPI_DATATYPE_NULL
/// @return its bytes, without holes; 0 for MPI_DATATYPE_NULL; MPI_UNDEFINED if an int has no room for them
inline int type_size(MPI_Datatype type) {
  int bytes = 0;
  if (type != MPI_DATATYPE_NULL) MPI_Type_size(type, &bytes);
  return bytes;
}

/// Calls MPI_Finalized.
/// @return whether MPI_Finalize has completed in this process
inline bool mpi_finalized() {
  int flag = 0;
  MPI_Finalized(&flag);
  return flag != 0;
}

}  // namespace fenix::util

#endif
