// SPDX-License-Identifier: BSD-3-Clause
// One use of SCR, from SCR_Init to SCR_Finalize: the order of calls, and the data group in which checkpoints are.
#pragma once

#include <fenix.h>

#include <filesystem>
#include <string>

#include "scr/cache.hpp"
#include "scr/catalog.hpp"
#include "scr/flushes.hpp"
#include "scr/job.hpp"
#include "scr/output.hpp"
#include "scr/restart.hpp"
#include "scr/settings/parameters.hpp"
#include "scr/snapshots.hpp"

namespace scr_impl {

class Session {
 public:
  enum class State { before, idle, output, checkpoint, restart };

  Parameters& parameters() { return parameters_; }
  [[nodiscard]] State state() const { return state_; }

  // Each returns whether it succeeded. The collective ones return the same on all ranks, unless a rank has died.

  /// Begins. repaired: where the resilient communicator is written to, or null.
  bool begin(MPI_Comm* repaired);
  bool end();

  bool should_exit(int* flag);
  bool need_checkpoint(int* flag);
  bool route(const char* name, char* file);

  bool have_restart(int* flag, char* name);
  bool start_restart(char* name);
  bool complete_restart(bool is_valid);

  /// wanted: State::output or State::checkpoint, which have to be completed as such.
  bool start_output(const char* name, int flags, State wanted);
  bool complete_output(bool is_valid, State wanted);

  bool set_current(const char* name);
  /// files_stay: those below the prefix folder are left where they are.
  bool remove(const char* name, bool files_stay);

 private:
  static void note_repair(MPI_Comm comm, int error, void* session);
  /// Has rank 0 read the parameters, and tells them to all.
  bool settle_parameters();
  bool prepare();
  /// Makes the folders below the prefix folder, on rank 0. control: the one of the library.
  bool make_folders(const std::filesystem::path& control) const;
  static bool make_control_folder(const std::filesystem::path& control, const std::filesystem::path& former);
  bool begin_fenix();
  [[nodiscard]] bool is(State wanted, const char* call) const;
  /// Creates the group at the beginning and after each repair. Collective.
  bool form();
  /// Ends the process, if SCR_HALT_EXIT is set and the job is told to end. Collective.
  void exit_if_told();
  /// Drops the files of a dataset, which has ended.
  void rest();

  Parameters parameters_;
  Job job_;
  Cache cache_;
  Catalog catalog_{job_};
  Snapshots snapshots_{job_};
  Flushes flushes_{job_, catalog_};
  Restart restart_{job_, cache_, catalog_, flushes_, snapshots_};
  Output output_{job_, cache_, catalog_, flushes_, snapshots_, restart_};
  State state_ = State::before;
  bool is_disabled_ = false;  ///< SCR_ENABLE is 0
};

/// The only one of this process.
Session& session();

/// Copies a name to a buffer of SCR_MAX_FILENAME bytes, or to none.
void put_name(const std::string& name, char* to);

}  // namespace scr_impl
