// SPDX-License-Identifier: BSD-3-Clause
// The begin and the end of the use of Fenix.
#pragma once

#include <mpi.h>

#include <csetjmp>
#include <optional>

#include "interposition/interposer.hpp"
#include "recovery/process/process.hpp"
#include "runtime/exited_spares.hpp"
#include "runtime/outputs.hpp"
#include "runtime/recovery.hpp"
#include "runtime/settings.hpp"
#include "runtime/subsystems.hpp"
#include "runtime/use_state.hpp"

namespace fenix_impl {

/// The arguments of Fenix_Init.
struct StartRequest {
  MPI_Comm comm = MPI_COMM_NULL;
  int spares = 0;
  int spawn = 0;
  MPI_Info info = MPI_INFO_NULL;
  Outputs outputs;
  std::jmp_buf* resume_point = nullptr;  ///< null: there is no place to jump to
};

class Lifecycle {
 public:
  /// Functions that MPI, libfenix_mpi and the system call.
  struct Hooks {
    MPI_Comm_errhandler_function* on_error = nullptr;        ///< handler of resilient communicators
    MPI_Comm_errhandler_function* on_stale_error = nullptr;  ///< of those from before a repair
    const InterposerServices* (*services)() = nullptr;
    void (*watch_forks)() = nullptr;  ///< has the use end in children of fork()
  };

  /// All must outlive it. process: one for each use of Fenix.
  Lifecycle(Settings& settings, UseState& use, std::optional<Process>& process, Subsystems& subsystems,
            Recovery& recovery, const Hooks& hooks)
      : settings_(settings),
        use_(use),
        process_(process),
        subsystems_(subsystems),
        recovery_(recovery),
        hooks_(hooks) {}

  /// Starts the use of Fenix. Collective over the communicator. Throws Error on all ranks if the arguments are wrong on one, or if
  /// one has died.
  void start(const StartRequest& request);
  /// Has settings restored at the end of this use of Fenix.
  void restore_at_end(const Settings& before) { settings_before_use_ = before; }
  /// Returns at once in active ranks. In spares it returns when they become active or are released; spares that are to
  /// exit do not return.
  void serve_as_spare();
  /// If the job is only to write what is in memory that was kept, does so, and ends the process: in active ranks. Otherwise returns at
  /// once.
  void drain();
  /// Ends the use of Fenix. Returns false if a repair was due instead and has been done: Continuation::resume() has to follow. Throws
  /// PeerFailure if a repair is due.
  bool finish();

 private:
  void make_handlers();
  /// taken: the settings with those of info.
  void begin_with(const StartRequest& request, const Settings& taken);
  void take_settings(const StartRequest& request, const Settings& taken);
  void take_use(const StartRequest& request);
  void start_as_replacement();
  void pass_as_released_spare(const Outputs& outputs);
  void end_subsystems();
  void end_of_use();
  static void give_up_drain(const char* why);

  Settings& settings_;
  UseState& use_;
  std::optional<Process>& process_;
  Subsystems& subsystems_;
  Recovery& recovery_;
  const Hooks hooks_;
  ErrorHandlers handlers_;
  MPI_Errhandler copying_handler_ = MPI_ERRHANDLER_NULL;  // does the same as the present one: see TeamFactory
  Settings settings_before_use_;
  ExitedSpares exited_spares_;     // of all uses of Fenix so far
  bool has_seen_failure_ = false;  // in any use
};

}  // namespace fenix_impl
