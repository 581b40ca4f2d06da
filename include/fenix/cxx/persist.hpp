// SPDX-License-Identifier: BSD-3-Clause
//
// C++: persistent communicators. The contract of <fenix/persist.h> holds.
#ifndef FENIX_CXX_PERSIST_HPP
#define FENIX_CXX_PERSIST_HPP

#include "../c.h"

#include <string>

namespace fenix {

/// Calls MPI_Comm_persist (new). Throws RuntimeException: FENIX_ERROR_INVALID_LOGIC_CALL if libfenix_mpi is missing; after
/// an error of MPI and the error handler FENIX_ERROR_INVALID_ARGUMENT, FENIX_ERROR_UNINITIALIZED, FENIX_ERROR_NO_MEMORY or,
/// for a time-out, FENIX_ERROR_NOCATEGORY.
/// @param comm, info as in C
/// @param key as in C, without zero bytes
/// @return the communicator, to be freed with MPI_Comm_free; MPI_COMM_NULL if a failure has cut the call short in resume
///         mode "return"
MPI_Comm comm_persist(MPI_Comm comm, const std::string& key, MPI_Info info = MPI_INFO_NULL);

/// Calls Fenix_Failure (new).
/// @return true if this process has the place of a dead one, and has sent nothing on a persistent communicator since
bool failure();

}  // namespace fenix

#endif
