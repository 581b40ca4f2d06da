// SPDX-License-Identifier: BSD-3-Clause
// The communicators and their repair.
//
// world holds all living processes: the active ones first, in the order of the resilient communicator, then the spares.
// All that they do together starts with one agreement on world. Ranks that want to finish say yes in it, ranks that
// want to repair say no. So no rank waits in a repair for one that finishes, nor the other way round.
#pragma once

#include <fenix/codes.h>
#include <mpi.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "recovery/process/node_processes.hpp"
#include "recovery/process/reinforcement.hpp"
#include "recovery/process/repair_plan.hpp"
#include "recovery/process/resumable_barrier.hpp"
#include "recovery/process/seating.hpp"
#include "recovery/process/slots.hpp"
#include "recovery/process/vain_turns.hpp"
#include "rma/silence_watch.hpp"
#include "rma/team.hpp"

namespace fenix_impl {

/// Handlers for errors on resilient communicators. Each is inherited by communicators that are derived from one that has it.
struct ErrorHandlers {
  MPI_Errhandler present = MPI_ERRHANDLER_NULL;
  MPI_Errhandler past =
      MPI_ERRHANDLER_NULL;  ///< of communicators from before a repair, also those that have been freed
};

class Process {
 public:
  /// Starts with the living ranks of comm. Ranks that have died are replaced by spares, or left out. Collective over
  /// comm. check: compares arguments on the living ranks. Throws the Error of check, on all ranks. Throws MpiError.
  void start(MPI_Comm comm, int spares, const ErrorHandlers& handlers, const std::function<void(MPI_Comm)>& check);

  /// Starts a process that was spawned to replace a dead rank, instead of start(): takes part in the repair that it was
  /// spawned for. Returns false if it is not needed any more. Collective over MPI_COMM_WORLD.
  [[nodiscard]] bool start_as_replacement(const ErrorHandlers& handlers);

  /// Says whether repairs spawn processes when the spares are used up. They do so if all active ranks allow it.
  void allow_spawning(bool allowed) { allows_spawning_ = allowed; }
  /// Sets the info for MPI_Comm_spawn, which has to stay.
  void set_spawn_keys(MPI_Info keys) { reinforcement_.set_keys(keys); }
  /// Sets the number of this use of Fenix, from 1, in which spawned processes are to join; 0: they could not.
  void set_use(int use) { reinforcement_.set_use(use); }
  /// Lets a process that has not started be a spare that was released.
  void pass_as_spare() { role_ = FENIX_ROLE_SPARE_RANK; }

  /// Questions that a repair asks every process, spares included.
  enum Question : int {
    kUsesWorld = 1,
    kHasPendingCommits = 2,
    kOwesRecoveredRole = 4,
    kUsesPersistence = 8,
    kLacksMessages = 16
  };
  static constexpr int kQuestions = 31;
  /// Sets the answers. answer: local; returns the questions whose answer is yes.
  void ask_in_repairs(std::function<int()> answer) { answer_ = std::move(answer); }
  /// Returns the questions to which some process has answered yes in the latest repair. Same on all.
  [[nodiscard]] int some_said_yes() const { return some_said_yes_; }
  /// Runs work with the active ranks. Collective over them. Throws as Team does.
  void run_with_active(const std::function<void(Team& team)>& work);
  /// Gives the role of a recovered rank back to the ranks that had it before the latest repair, because they have not gone on since.
  /// had_it: whether this one had. Collective over the active ranks. Throws as Team does.
  void restore_recovered_roles(bool had_it);

  /// Returns when all these ranks of the resilient communicator, this one among them, have called it. Throws as Team
  /// does. It can be repeated after a time-out.
  void meet(const std::vector<int>& ranks);
  /// Returns the watch over processes for which others wait inside of MPI.
  [[nodiscard]] SilenceWatch& watch() { return watch_; }

  [[nodiscard]] bool is_spare() const { return role_ == FENIX_ROLE_SPARE_RANK; }
  [[nodiscard]] MPI_Comm resilient() const { return resilient_; }
  /// Returns the handle that the program has for the resilient communicator: with libfenix_mpi it never changes.
  [[nodiscard]] MPI_Comm name() const;
  [[nodiscard]] int role() const { return role_; }
  /// Returns the ranks in the resilient communicator of the ranks of another one. Throws
  /// Error(FENIX_ERROR_INVALID_ARGUMENT) if that has other ranks as well.
  [[nodiscard]] std::vector<int> ranks_of(MPI_Comm comm) const;
  /// Returns for each of these ranks of the resilient communicator whether it is on this node.
  [[nodiscard]] std::vector<bool> are_near(const std::vector<int>& ranks) const;
  /// Whether all processes are on this node, spares included.
  [[nodiscard]] bool on_one_node() const { return node_.count() == seating_.all(); }
  /// Returns the roles by rank in the resilient communicator.
  [[nodiscard]] const std::vector<int>& roles() const { return roles_; }
  [[nodiscard]] const std::vector<int>& failed() const { return failed_; }
  [[nodiscard]] const RankSlots& slots() const { return slots_; }
  /// Returns these ranks of the resilient communicator as a group, which the caller frees. Local.
  [[nodiscard]] MPI_Group group_of(const std::vector<int>& ranks) const;
  /// Returns the spares as a group, which the caller frees. Local.
  [[nodiscard]] MPI_Group group_of_spares() const;
  [[nodiscard]] bool shrunk() const { return shrunk_; }
  /// Whether the latest repair has shrunk the communicator because no process could be spawned.
  [[nodiscard]] bool spawning_failed() const { return shrunk_ && reinforcement_.has_failed(); }
  [[nodiscard]] int repairs() const { return repairs_; }
  [[nodiscard]] double noticed() const { return noticed_; }
  [[nodiscard]] double repaired() const { return repaired_; }
  /// Returns the number of spares that wait, without those known here to be dead.
  [[nodiscard]] int waiting_spares() const;

  /// Returns the MPI error that tells of a death or of a repair under way, or MPI_SUCCESS. Local.
  [[nodiscard]] int look_for_failures() const;

  /// Revokes the communicators: all ranks, and all threads of this one, come out of their calls. Local. It may be
  /// called while other threads use them.
  void call_all_to_repair();
  /// Takes the dead out and puts spares, or spawned processes, in their places. Collective over the living. It repeats
  /// itself when more ranks die. If it fails again and again though none dies, it ends the job: see VainTurns.
  void repair();
  /// Lets errors on the resilient communicator and derived ones be returned from now on. Local.
  void let_go_of_communicators();
  /// Waits in a spare. Returns true when this process has become active, false when all active ranks have finished.
  /// repairs: whether deaths are repaired; if not, the spares repair only when no active rank is left.
  bool wait_as_spare(unsigned wait_mode, bool repairs);
  /// Finishes an active rank: calls before_end when all have agreed to finish. The resilient communicator stays. Returns
  /// false if a repair was due instead, which it has then done; before_repair is called first. Throws PeerFailure if a
  /// repair is to follow. If deaths are not repaired, the living finish without the dead.
  bool finish(bool repairs, const std::function<void()>& before_repair, const std::function<void()>& before_end);

 private:
  enum class Intent { repair, finish };
  // Another rank may have started its own wait for this one, or for one of another node, later than this one.
  static constexpr double kTimeoutsOfARound = 4;

  [[nodiscard]] std::vector<int> all_ranks() const;
  [[nodiscard]] bool agree_to(Intent intent);
  void rebuild_communicators();
  [[nodiscard]] bool try_to_rebuild();
  /// Collective over living. Returns false on all its ranks if a rank has died in the meantime.
  bool build_and_adopt(MPI_Comm living);
  struct Rebuilt {
    std::vector<Seat> seats;  ///< by rank among the living
    RepairPlan plan;
    MPI_Comm world = MPI_COMM_NULL;
    MPI_Comm resilient = MPI_COMM_NULL;
  };
  bool build_on(MPI_Comm living, Rebuilt& rebuilt);
  enum class Occasion { start, repair };
  void build(MPI_Comm living, Rebuilt& rebuilt, Occasion occasion);
  void adopt_communicators(const Rebuilt& rebuilt, Occasion occasion);
  void tell_slots(MPI_Comm living);
  bool try_start(MPI_Comm living, const std::function<void(MPI_Comm)>& check);
  void adopt(const Rebuilt& rebuilt);
  void wait_for(const std::vector<int>& ranks, int tag, const char* waited_for);
  void wait_for_all_to_finish();
  void release_spares();

  [[nodiscard]] bool told_to_finish();
  [[nodiscard]] bool needs_spare(bool repairs);
  [[nodiscard]] bool world_revoked();

  SilenceWatch watch_;
  std::mutex barriers_mutex_;
  std::map<std::pair<int, std::vector<int>>, std::shared_ptr<ResumableBarrier>> barriers_;  // by tag and ranks
  MPI_Comm world_ = MPI_COMM_NULL;
  MPI_Comm resilient_ = MPI_COMM_NULL;
  ErrorHandlers handlers_;
  int role_ = FENIX_ROLE_INITIAL_RANK;
  Seating seating_;
  NodeProcesses node_{watch_};
  VainTurns vain_turns_;
  Reinforcement reinforcement_{seating_, vain_turns_, [this] { node_.note_joined(); }};
  RankSlots slots_;
  std::vector<int> roles_;
  std::function<int()> answer_ = [] { return 0; };
  int some_said_yes_ = 0;
  std::vector<int> failed_;
  bool allows_spawning_ = false;
  bool shrunk_ = false;
  std::atomic<int> repairs_{0};  // read by threads that are in no call of the library
  double noticed_ = 0;
  double repaired_ = 0;
};

}  // namespace fenix_impl
