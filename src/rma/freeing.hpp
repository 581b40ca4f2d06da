// SPDX-License-Identifier: BSD-3-Clause
// Communicators that are freed while somebody looks at all of them.
#pragma once

#include <mpi.h>

#include <mutex>

namespace fenix_impl {

/// Held by whoever looks at all communicators of the process, and while one is freed: Open MPI can name it until it is gone.
inline std::recursive_mutex& freeing_mutex() {
  static std::recursive_mutex mutex;
  return mutex;
}

/// Frees a communicator, with a function that does not wait for other ranks, while nobody looks.
inline int free_unseen(int (*free)(MPI_Comm*), MPI_Comm* comm) {
  const std::lock_guard lock(freeing_mutex());
  return free(comm);
}

}  // namespace fenix_impl
