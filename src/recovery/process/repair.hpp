// SPDX-License-Identifier: BSD-3-Clause
// The repair of the communicators.
//
// All that the living do together starts with one agreement on the world. Ranks that want to finish say yes in it, ranks that want to repair say
// no. So no rank waits in a repair for one that finishes, nor the other way round.
#pragma once

#include <mpi.h>

#include <atomic>
#include <functional>
#include <utility>

#include "recovery/process/communicators.hpp"
#include "recovery/process/membership.hpp"
#include "recovery/process/spawn/reinforcement.hpp"
#include "recovery/process/vain_turns.hpp"
#include "recovery/process/world_builder.hpp"
#include "rma/silence_watch.hpp"

namespace fenix_impl {

class Repair {
 public:
  /// All must outlive it.
  Repair(Communicators& comms, Membership& members, WorldBuilder& builder, SilenceWatch& watch)
      : comms_(comms), members_(members), builder_(builder), watch_(watch) {}

  /// Says whether repairs spawn processes when the spares are used up. They do so if all active ranks allow it.
  void allow_spawning(bool allowed) { allows_spawning_ = allowed; }
  /// Returns what gets processes that are spawned.
  [[nodiscard]] Reinforcement& reinforcement() { return reinforcement_; }

  // Another rank may have started its own wait for this one, or for one of another node, later than this one.
  static constexpr double kTimeoutsOfARound = 4;

  /// So many bits can be answers to questions that a repair asks every process, spares included.
  static constexpr int kMostQuestions = 16;
  /// Sets the answers. answer: local; returns a bit for each question whose answer is yes.
  void ask(std::function<int()> answer) { answer_ = std::move(answer); }
  /// Returns the questions to which some process has answered yes in the latest repair. Same on all.
  [[nodiscard]] int some_said_yes() const { return some_said_yes_; }

  /// Takes the dead out and puts spares, or spawned processes, in their places. Collective over the living. It repeats
  /// itself when more ranks die. If it fails again and again though none dies, it ends the job: see VainTurns.
  void run();
  /// Takes part in the repair for which this process was spawned. joined: the living, which it has joined.
  void run_as_recruit(MPI_Comm joined);
  enum class Intent { repair, finish };
  /// Agrees on what comes next. Returns whether all want the same. Collective over the world.
  [[nodiscard]] bool agree_to(Intent intent);
  /// Does the same as run(), after an agreement that has said so.
  void run_as_agreed();
  /// Notes that this process has noticed a death, or that a repair has begun.
  void note_time() { noticed_ = MPI_Wtime(); }

  /// Returns the number of repairs.
  [[nodiscard]] int count() const { return count_; }
  [[nodiscard]] double noticed() const { return noticed_; }
  [[nodiscard]] double repaired() const { return repaired_; }
  /// Returns FENIX_SUCCESS, FENIX_WARNING_SPARE_RANKS_DEPLETED if the latest one has shrunk the communicator, or FENIX_ERROR_SPAWNING_FAILED if it
  /// has because no process could be spawned.
  [[nodiscard]] int outcome() const;

 private:
  [[nodiscard]] bool try_once();
  /// Collective over living. Returns false on all its ranks if a rank has died in the meantime.
  bool build_and_adopt(MPI_Comm living);
  void adopt(const NewWorld& made);

  Communicators& comms_;
  Membership& members_;
  WorldBuilder& builder_;
  SilenceWatch& watch_;
  VainTurns vain_turns_;
  Reinforcement reinforcement_{members_.seating(), vain_turns_, [this] { members_.note_joined(); }};
  std::function<int()> answer_ = [] { return 0; };
  int some_said_yes_ = 0;
  bool allows_spawning_ = false;
  std::atomic<int> count_{0};  // read by threads that are in no call of the library
  double noticed_ = 0;
  double repaired_ = 0;
};

}  // namespace fenix_impl
