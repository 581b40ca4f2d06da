// SPDX-License-Identifier: BSD-3-Clause
// The one object that owns everything: communicators, groups, settings, callbacks.
#pragma once

#include <mpi.h>
#include <sys/types.h>

#include <atomic>
#include <csetjmp>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "checkpoint/checkpoints.hpp"
#include "core/group.hpp"
#include "interposition/interposer.hpp"
#include "messages/log/region_logs.hpp"
#include "messages/persistent/persistence.hpp"
#include "recovery/groups/group_registry.hpp"
#include "recovery/groups/request_table.hpp"
#include "recovery/groups/storage/storage.hpp"
#include "recovery/process/process.hpp"
#include "runtime/attachments.hpp"
#include "runtime/callbacks.hpp"
#include "runtime/failure_exception.hpp"
#include "runtime/settings.hpp"
#include "store/store_run.hpp"

namespace fenix_impl {

class AllSurroundings;

/// The places where Fenix_Init writes its results, at the start and after each repair. Each may be null;
/// comm only with libfenix_mpi.
struct Outputs {
  int* role = nullptr;
  MPI_Comm* comm = nullptr;
  int* error = nullptr;
};

class Runtime {
 public:
  Settings settings;  ///< of this use of Fenix; before it, those of the next one
  Callbacks callbacks;
  Attachments attachments;
  FailureException failure_exception;
  const PersistServices* persist_services = nullptr;  ///< for libfenix_mpi; set before start()

  [[nodiscard]] bool initialized() const { return initialized_; }
  [[nodiscard]] bool finalized() const { return finalized_; }
  [[nodiscard]] bool ready() const { return initialized_ && !finalized_; }
  [[nodiscard]] bool in_use_by(pid_t process) const { return ready() && process == process_id_; }
  /// Ends the use of Fenix in a child of fork(), before that does anything: memory and connections belong to the parent. Local.
  void give_up_in_child() noexcept;
  /// Throws Error(FENIX_ERROR_UNINITIALIZED) unless ready.
  void require_ready() const;
  /// Throws Error(FENIX_ERROR_INVALID_LOGIC_CALL) in a callback before a repair. call: name of a function.
  static void require_no_repair(const char* call);
  /// Throws as Settings::set does, and if there is no place to jump to.
  void set_option(int setting, unsigned option);

  /// Starts the use of Fenix. Collective over comm. Throws Error on all ranks if the arguments are wrong on one, or if
  /// one has died.
  void start(MPI_Comm comm, int spares, int spawn, MPI_Info info, const Outputs& outputs, std::jmp_buf* resume_point);
  /// Has settings restored at the end of this use of Fenix.
  void restore_at_end(const Settings& before) { settings_before_use_ = before; }
  /// Returns at once in active ranks. In spares it returns when they become active or are released; spares that are to
  /// exit do not return.
  void serve_as_spare();
  /// If the job is only to write what is in memory that was kept, does so, and ends the process: in active ranks. Otherwise returns at
  /// once.
  void drain();
  /// Writes role, communicator and error to the places that Fenix_Init was given.
  void write_outputs() const;
  /// Has the communicator written as a handle of Fortran, too.
  void write_comm_also_to(MPI_Fint* handle) { fortran_comm_ = handle; }
  /// Ends the use of Fenix. Returns false if a repair was due instead and has been done: resume() has to follow. Throws
  /// PeerFailure if a repair is due.
  bool finish();

  /// Whether an MPI error comes from a death, though it may not say so: Open MPI has calls that fail with
  /// MPI_ERR_OTHER, and the notice of the death comes a little later.
  [[nodiscard]] bool comes_from_failure(int mpi_error) const;
  /// Tells that the next MPI error of this thread is known to come from no death. MPI_SUCCESS takes that back.
  static void announce_error(int mpi_error) { announced_error_ = mpi_error; }
  /// Reacts to an MPI error on a resilient communicator. Returns if the MPI call is to return the error. comm: where it
  /// occurred, or MPI_COMM_NULL.
  void on_mpi_error(int mpi_error, MPI_Comm comm = MPI_COMM_NULL);
  /// Does the same on a communicator from before a repair.
  void on_past_error(int mpi_error);
  /// Repairs as FENIX_RECOVERY_MODE says, unless another thread has done so since there were so many repairs. Returns
  /// whether this thread has dealt with the failure: then callbacks are due.
  bool repair(int mpi_error, int repairs_before);
  /// Has the other ranks come to a repair, which this rank makes in its next call. Returns false if failures are not repaired.
  bool put_off_repair();
  /// Calls the callbacks if they are due, and goes on as FENIX_RESUME_MODE says. Returns only in mode "return", and in
  /// mode "jump" in threads other than that of Fenix_Init.
  void resume(int mpi_error, bool callbacks_due = true);
  /// Goes on as FENIX_RESUME_MODE says.
  void leave(int mpi_error);
  /// Whether a message log is active, and calls that a failure has cut short are repeated.
  [[nodiscard]] bool repeats_calls() const;
  /// Whether functions of message logs are repeated, too, whatever log is active.
  [[nodiscard]] bool repeats_functions_of_logs() const;
  /// Whether survivors come out of Fenix_Init, or go on elsewhere, after a repair.
  [[nodiscard]] bool survivors_start_over() const;
  /// Ends the job if the program knows nothing of Fenix, as more ranks have died than there were spares.
  void end_job_without_spares() const;
  /// Calls the callbacks of a location.
  void run_callbacks(Fenix_Callback_location location, int mpi_error);

  /// Returns a lock that every public function holds while it works. A repair waits for all of them, except those that
  /// its own callbacks call.
  [[nodiscard]] std::shared_lock<std::shared_mutex> begin_call() {
    const bool is_alone = repair_is_pending_ || !has_threads_.load(std::memory_order_relaxed);
    return is_alone ? std::shared_lock(calls_, std::defer_lock) : std::shared_lock(calls_);
  }

  [[nodiscard]] const Process& process() const { return *process_; }
  /// Returns FENIX_SUCCESS, FENIX_WARNING_SPARE_RANKS_DEPLETED or FENIX_ERROR_SPAWNING_FAILED.
  [[nodiscard]] int error() const;
  [[nodiscard]] int latest_failure() const { return latest_failure_; }

  [[nodiscard]] TeamFactory& teams() { return teams_; }
  [[nodiscard]] Persistence& persistence() { return persistence_; }
  [[nodiscard]] RegionLogs& region_logs() { return region_logs_; }
  [[nodiscard]] Checkpoints& checkpoints() { return checkpoints_; }
  [[nodiscard]] GroupRegistry& groups() { return groups_; }
  [[nodiscard]] Storage& storage() { return storage_; }
  [[nodiscard]] bool has_group(int group_id) {
    know(group_id);
    return groups_.has(group_id);
  }
  [[nodiscard]] Group& group(int group_id) {
    know(group_id);
    return groups_.at(group_id);
  }
  [[nodiscard]] Group& attached_group(int group_id) {
    know(group_id);
    return groups_.attached(group_id);
  }
  /// Returns an attached group for collective calls: creates FENIX_DATA_GROUP_WORLD_ID if need be.
  [[nodiscard]] Group& working_group(int group_id);
  /// Tells the others that the call of this thread has run out of memory: they may wait for it, if it has asked for a
  /// working group.
  void withdraw_from_call() const noexcept;
  /// Removes what is not on all ranks: Fenix_Data_barrier.
  void make_consistent(int group_id);
  [[nodiscard]] RequestTable& requests() { return requests_; }

  /// A guard within which control does not leave after a repair: the call will be repeated.
  class RepeatedCall {
   public:
    RepeatedCall() { ++depth_; }
    RepeatedCall(const RepeatedCall&) = delete;
    RepeatedCall& operator=(const RepeatedCall&) = delete;
    ~RepeatedCall() { --depth_; }
    [[nodiscard]] static bool here() { return depth_ > 0; }

   private:
    static thread_local int depth_;
  };

  /// A guard within which failures are the library's own business: MPI calls return their errors.
  class Inside {
   public:
    Inside() {
      if (depth_++ == 0) working_group_id_.reset();
    }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
    ~Inside() { --depth_; }
    [[nodiscard]] static bool here() { return depth_ > 0; }

   private:
    friend class Runtime;
    static thread_local int depth_;
    static thread_local std::optional<int> working_group_id_;
  };

 private:
  struct StartArguments {
    std::int32_t rank = 0;  ///< in comm
    std::int32_t size = 0;  ///< of comm
    std::int32_t spares = 0;
    std::int32_t spawn = 0;
    std::uint32_t resume_mode = 0;
    std::uint32_t unhandled_mode = 0;
    std::uint32_t recovery_mode = 0;
    std::uint32_t spare_finalize_mode = 0;
    StoreRun run;  ///< this job on its store, from the first rank
    std::uint32_t drains = 0;
  };
  /// Throws Error for arguments and an environment that are wrong on this rank alone.
  static void check_arguments(const StartArguments& own, const Outputs& outputs);
  /// Throws Error if the ranks do not suit each other, and warns of what they differ in.
  static void compare(const AllSurroundings& surroundings, int rank, const StartArguments& own,
                      std::span<const std::string> ignored);
  /// ignored: what was given in vain.
  void check_start(MPI_Comm living, StartArguments own, const Outputs& outputs, std::vector<std::string> ignored);
  /// taken: the settings with those of info.
  void begin_with(MPI_Comm comm, int spawn, MPI_Info info, const Settings& taken, const Outputs& outputs,
                  std::jmp_buf* resume_point);
  void start_as_replacement();
  void pass_as_released_spare(const Outputs& outputs);
  void note_exiting_spares();
  void require_no_exited_spares(MPI_Comm comm) const;
  [[nodiscard]] bool repairs() const;
  [[nodiscard]] bool spawns() const;
  void report_unhandled(int mpi_error) const;
  /// Calls the callbacks before a repair, and keeps an exception until the repair is done.
  void announce_repair(int mpi_error);
  void end_of_use();
  static void give_up_drain(const char* why);
  // FENIX_DATA_GROUP_WORLD_ID exists from Fenix_Init on.
  void know(int group_id) {
    if (group_id == FENIX_DATA_GROUP_WORLD_ID) groups_.know_world();
  }
  void go_on_after_repair();
  void detach_all();
  bool try_to_go_on();
  void take_up_world();
  void take_up_persistence();
  /// Ends the job if the program knows nothing of Fenix: nobody tells it to go back.
  void end_job_that_cannot_go_back(const char* why) const;
  [[nodiscard]] int answers_in_repairs() const;

  static constexpr const char* kInChild = "called in a child of fork: Fenix is in use by its parent";

  bool initialized_ = false;
  bool finalized_ = false;
  bool is_child_ = false;  // of a process that used Fenix when it called fork()
  int latest_failure_ = MPI_SUCCESS;
  bool owes_recovered_role_ = false;  // the application has not been told yet that this is a recovered rank
  std::optional<Process> process_{std::in_place};  // one for each use of Fenix
  Settings settings_before_use_;
  MPI_Group exited_spares_ = MPI_GROUP_EMPTY;  // of all uses of Fenix so far
  bool spares_exit_ = true;
  int uses_ = 0;                           // of Fenix, that have begun
  bool has_seen_death_ = false;            // in any use
  static thread_local int known_repairs_;  // those after which this thread has resumed
  static thread_local int announced_error_;
  static thread_local std::exception_ptr thrown_before_repair_;
  static thread_local bool repair_is_pending_;  // this thread calls the callbacks before a repair
  ErrorHandlers handlers_;
  std::atomic<int> reported_repairs_{0};  // those after which a call on a communicator from before has been reported
  MPI_Errhandler copying_handler_ = MPI_ERRHANDLER_NULL;  // does the same as the present one: see TeamFactory
  Outputs outputs_;
  MPI_Fint* fortran_comm_ = nullptr;
  std::jmp_buf* resume_point_ = nullptr;
  [[nodiscard]] bool repaired_elsewhere(int repairs_before) const;
  void report_past_call();

  TeamFactory teams_{*process_};
  Storage storage_;
  GroupRegistry groups_{*process_, teams_, storage_};
  Persistence persistence_{*process_, teams_};
  RegionLogs region_logs_{persistence_};
  Checkpoints checkpoints_{*process_, teams_};
  RequestTable requests_;
  std::mutex repair_mutex_;
  std::shared_mutex calls_;
  std::atomic<bool> has_threads_{true};  // several of the program may call at once
  std::thread::id init_thread_;
  pid_t process_id_ = 0;
};

/// The last error that a public function returned in this thread.
struct LastError {
  std::string text;
  Place place;
};
LastError& last_error();

/// Returns the library's only mutable global, apart from that text. It is never destroyed: MPI may call back while the
/// process exits.
Runtime& runtime();

}  // namespace fenix_impl
