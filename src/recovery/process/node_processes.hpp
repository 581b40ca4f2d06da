// SPDX-License-Identifier: BSD-3-Clause
// The processes of this node, and the watch over them.
#pragma once

#include <mpi.h>

#include <map>
#include <vector>

#include "recovery/process/repair_plan.hpp"
#include "recovery/process/seating.hpp"
#include "rma/silence_watch.hpp"

namespace fenix_impl {

class NodeProcesses {
 public:
  /// watch must outlive it.
  explicit NodeProcesses(SilenceWatch& watch) : watch_(watch) {}

  /// Whether the process with a number is on this node.
  [[nodiscard]] bool includes(int number) const { return on_node_.count(number) != 0; }
  /// Returns the number of processes on this node, this one among them.
  [[nodiscard]] int count() const { return static_cast<int>(on_node_.size()); }
  /// Notes that processes have joined whose nodes are not known yet.
  void note_joined() { has_joined_ = true; }
  [[nodiscard]] bool has_joined() const { return has_joined_; }
  /// Watches the living. Collective over living if processes have joined. Otherwise all processes are where they were,
  /// and it is local.
  void watch_living(MPI_Comm living, const Seating& seating, const std::vector<Seat>& seats);
  /// Gives processes the numbers that they have after a repair. seating: before it; seats: by rank among the living. Local.
  void renumber(const Seating& seating, const std::vector<Seat>& seats, const RepairPlan& plan);

 private:
  SilenceWatch& watch_;
  std::map<int, SilenceWatch::Address> on_node_;  // by number of the seat
  bool has_joined_ = false;
};

}  // namespace fenix_impl
