// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/handles.hpp"

#include <bit>

namespace fenix_impl {

constinit std::atomic<const MovedHandles*> moved_handles{nullptr};

MovedHandles::MovedHandles(const std::vector<std::pair<MPI_Comm, MPI_Comm>>& moved)
    : mask_(std::bit_ceil(4 * moved.size() + 1) - 1), entries_(std::make_unique<Entry[]>(mask_ + 1)) {
  for (const auto& [name, now] : moved) {
    std::size_t place = first_place(name);
    while (entries_[place].name != nullptr) place = (place + 1) & mask_;
    entries_[place] = {name, now};
  }
}

void publish_moved(const std::vector<std::pair<MPI_Comm, MPI_Comm>>& moved) {
  moved_handles.store(moved.empty() ? nullptr : new MovedHandles(moved), std::memory_order_release);
}

}  // namespace fenix_impl
