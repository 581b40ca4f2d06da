// SPDX-License-Identifier: BSD-3-Clause
#include "messages/persistent/comm_slots.hpp"

#include <algorithm>

#include "rma/mpi_errors.hpp"

namespace fenix_impl {

void CommSlots::look_up(const Process& process, MPI_Comm now) {
  slots_.clear();
  for (const int rank : process.comms().ranks_of(now)) {
    slots_.push_back(process.members().slots().by_rank().at(static_cast<std::size_t>(rank)));
  }
  int rank = 0;
  check_mpi(MPI_Comm_rank(now, &rank), "MPI_Comm_rank");
  own_ = of(rank);
  repairs_ = process.repair().count();
}

std::optional<int> CommSlots::rank_of(int slot) const {
  const auto found = std::find(slots_.begin(), slots_.end(), slot);
  return found != slots_.end() ? std::optional(static_cast<int>(found - slots_.begin())) : std::nullopt;
}

}  // namespace fenix_impl
