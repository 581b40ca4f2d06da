// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/process/node_processes.hpp"

#include <cstddef>
#include <utility>

#include "rma/mpi_team.hpp"
#include "rma/processes.hpp"

namespace fenix_impl {

void NodeProcesses::watch_living(MPI_Comm living, const Seating& seating, const std::vector<Seat>& seats) {
  if (has_joined_) {
    const auto addresses = MpiTeam(living, size_of(living), living).gather(watch_.address());
    watch_.observe(addresses);
    on_node_.clear();
    for (std::size_t i = 0; i < seats.size(); ++i) {
      if (addresses[i].node == node_id()) on_node_[seating.number_of(seats[i])] = addresses[i];
    }
    return;
  }
  std::vector<SilenceWatch::Address> addresses;
  for (const Seat& seat : seats) {
    const auto near = on_node_.find(seating.number_of(seat));
    if (near != on_node_.end()) addresses.push_back(near->second);
  }
  watch_.observe(addresses);
}

void NodeProcesses::renumber(const Seating& seating, const std::vector<Seat>& seats, const RepairPlan& plan) {
  std::map<int, SilenceWatch::Address> renumbered;
  const auto give = [&](int living, std::size_t number) {
    const auto near = on_node_.find(seating.number_of(seats[static_cast<std::size_t>(living)]));
    if (near != on_node_.end()) renumbered[static_cast<int>(number)] = near->second;
  };
  for (std::size_t i = 0; i < plan.active.size(); ++i) give(plan.active[i], i);
  for (std::size_t i = 0; i < plan.spares.size(); ++i) give(plan.spares[i], plan.active.size() + i);
  on_node_ = std::move(renumbered);
  has_joined_ = false;
}

}  // namespace fenix_impl
