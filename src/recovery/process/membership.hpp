// SPDX-License-Identifier: BSD-3-Clause
// The members of the job and their roles: the active ranks and the spares, where they run, and the places of ranks in the application.
#pragma once

#include <fenix/codes.h>
#include <mpi.h>

#include <vector>

#include "recovery/process/node_processes.hpp"
#include "recovery/process/repair_plan.hpp"
#include "recovery/process/seating.hpp"
#include "recovery/process/slots.hpp"
#include "rma/silence_watch.hpp"
#include "rma/team.hpp"

namespace fenix_impl {

class Membership {
 public:
  /// watch must outlive it.
  explicit Membership(SilenceWatch& watch) : node_(watch) {}

  /// Begins with so many active ranks and spares. number: of this process among them.
  void begin(int active, int spares, int number);
  /// Begins in a process that has joined in a repair, as a spare. seating: after it has joined.
  void begin_as_recruit(const Seating& seating);
  /// Begins in a process that has not started, as a spare that was released.
  void begin_as_released() { role_ = FENIX_ROLE_SPARE_RANK; }
  /// Gives the active ranks their slots, as nobody has been replaced yet.
  void begin_slots();
  /// Makes active ranks initial ones.
  void make_initial();

  [[nodiscard]] int role() const { return role_; }
  [[nodiscard]] bool is_spare() const { return role_ == FENIX_ROLE_SPARE_RANK; }
  /// Returns the roles by rank in the resilient communicator.
  [[nodiscard]] const std::vector<int>& roles() const { return roles_; }
  /// Returns the dead of the latest repair, as RepairPlan has them.
  [[nodiscard]] const std::vector<int>& failed() const { return failed_; }
  /// Whether the latest repair has left ranks out.
  [[nodiscard]] bool shrunk() const { return shrunk_; }
  [[nodiscard]] const RankSlots& slots() const { return slots_; }
  [[nodiscard]] const Seating& seating() const { return seating_; }
  [[nodiscard]] Seating& seating() { return seating_; }
  /// Returns the active ranks, which are the first of the world.
  [[nodiscard]] std::vector<int> all_ranks() const;
  /// Returns for each of these ranks of the resilient communicator whether it is on this node.
  [[nodiscard]] std::vector<bool> are_near(const std::vector<int>& ranks) const;
  /// Whether all processes are on this node, spares included.
  [[nodiscard]] bool on_one_node() const { return node_.count() == seating_.all(); }
  /// Returns the spares of a world as a group, which the caller frees. Local.
  [[nodiscard]] MPI_Group group_of_spares(MPI_Comm world) const;
  /// Returns the number of spares of a world that wait, without those known here to be dead.
  [[nodiscard]] int waiting_spares(MPI_Comm world) const;

  /// Notes that processes have joined whose nodes are not known yet.
  void note_joined() { node_.note_joined(); }
  /// Tells processes that have joined the slots. Collective over living; nothing is done if none has.
  void tell_slots(MPI_Comm living);
  /// Watches the living of this node. seats: by rank among the living. Collective over living if processes have joined.
  void watch_living(MPI_Comm living, const std::vector<Seat>& seats) { node_.watch_living(living, seating_, seats); }
  /// Takes the places of a plan. seats: by rank among the living; world: the new one. Local.
  void adopt(const RepairPlan& plan, const std::vector<Seat>& seats, MPI_Comm world);
  void note_failed(const std::vector<int>& failed) { failed_ = failed; }
  /// Gives the role of a recovered rank back to the ranks that had it before the latest repair, because they have not gone on since.
  /// had_it: whether this one had. Collective over active, the team of the active ranks. Throws as Team does.
  void restore_recovered_roles(Team& active, bool had_it);

 private:
  int role_ = FENIX_ROLE_INITIAL_RANK;
  Seating seating_;
  NodeProcesses node_;
  RankSlots slots_;
  std::vector<int> roles_;
  std::vector<int> failed_;
  bool shrunk_ = false;
};

}  // namespace fenix_impl
