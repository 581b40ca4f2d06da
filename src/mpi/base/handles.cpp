// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/base/handles.hpp"

namespace fenix_impl {

constinit std::atomic<const MovedHandles*> moved_handles{nullptr};

void publish_moved(const std::vector<std::pair<MPI_Comm, MPI_Comm>>& moved) {
  moved_handles.store(moved.empty() ? nullptr : new MovedHandles(moved), std::memory_order_release);
}

}  // namespace fenix_impl
