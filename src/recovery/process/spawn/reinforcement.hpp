// SPDX-License-Identifier: BSD-3-Clause
// Reinforcement during a repair: processes are spawned for ranks that no spare can take.
#pragma once

#include <mpi.h>

#include <functional>
#include <memory>

#include "recovery/process/seating.hpp"
#include "recovery/process/spawn/spawning.hpp"
#include "recovery/process/vain_turns.hpp"

namespace fenix_impl {

class Reinforcement {
 public:
  /// seating and turns must outlive it. on_joined is called when processes have joined.
  Reinforcement(Seating& seating, VainTurns& turns, std::function<void()> on_joined)
      : seating_(seating), turns_(turns), on_joined_(std::move(on_joined)) {}

  /// Says whether repairs spawn processes when the spares are used up. Same on all ranks.
  void allow(bool allowed) { is_allowed_ = allowed; }
  /// Sets the info for MPI_Comm_spawn, which has to stay.
  void set_keys(MPI_Info keys) { keys_ = keys; }
  /// Sets the number of the use of Fenix in which new processes are to join; 0: they could not.
  void set_use(int use) { use_ = use; }
  /// Whether the latest repair got no process although it needed one.
  [[nodiscard]] bool has_failed() const { return has_failed_; }
  /// Notes, in a process that was spawned, how many times there has been spawning.
  void set_spawns(int spawns) { spawns_ = spawns; }

  /// Begins a repair.
  void begin() {
    attempts_ = 0;
    is_overdue_ = false;
  }
  /// Appends new processes to living, which is replaced, if some are needed and can be had. Collective over living.
  /// Returns false on all its ranks if a rank has died in the meantime.
  [[nodiscard]] bool run(MPI_Comm& living);

 private:
  int count_missing(MPI_Comm living);
  std::unique_ptr<Recruits> call_recruits(Invitation& invitation);
  bool recruit(MPI_Comm& living, int missing);
  bool let_in(MPI_Comm& living, const Invitation& invitation, Recruits* recruits);

  Seating& seating_;
  VainTurns& turns_;
  std::function<void()> on_joined_;
  bool is_allowed_ = false;
  MPI_Info keys_ = MPI_INFO_NULL;
  int use_ = 1;
  bool has_failed_ = false;
  int spawns_ = 0;    // attempts, in all
  int attempts_ = 0;  // in this repair
  bool is_overdue_ = false;
};

}  // namespace fenix_impl
