// SPDX-License-Identifier: BSD-3-Clause
// One use of SCR, from SCR_Init to SCR_Finalize: the order of calls, and the data group in which checkpoints are.
#pragma once

#include <fenix.h>

#include <optional>
#include <string>

#include "scr/cache.hpp"
#include "scr/package.hpp"
#include "scr/parameters.hpp"
#include "scr/prefix.hpp"

namespace scr_impl {

class Session {
 public:
  enum class State { before, idle, output, checkpoint, restart, after };

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
  /// files_stay: those of an output are left where they are.
  bool remove(const char* name, bool files_stay);

  /// Says why a call is refused, if SCR_DEBUG is set. Returns false.
  bool refuse(const std::string& why) const;

 private:
  /// A checkpoint in memory that this job has committed.
  struct Kept {
    std::string name;
    int time_stamp = -1;
    bool is_flushed = false;
  };

  static void note_repair(MPI_Comm comm, int error, void* session);
  bool prepare_environment();
  void prepare_cache();
  [[nodiscard]] bool is(State wanted, const char* call) const;
  /// Creates the group at the beginning and after each repair. Collective.
  bool form();
  /// Looks for a checkpoint in the group. Collective.
  void look();
  /// Tells whether it holds on all ranks. Collective.
  bool agree(bool holds) const;
  bool is_same_everywhere(const std::string& name, int flags) const;
  bool keep();
  bool flush_if_due();
  bool flush(bool in_background);
  bool wait_for_flush();
  /// Drops the files of a dataset, which has ended.
  void rest();

  Parameters parameters_;
  Prefix prefix_;
  Cache cache_;
  State state_ = State::before;
  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Comm* repaired_ = nullptr;
  bool is_begun_ = false;               // Fenix is in use
  bool is_formed_ = false;              // the group is there
  bool is_broken_ = false;              // a rank has died, and the program does not repair itself
  bool is_resumed_ = false;             // the group goes on from the store
  bool is_current_free_ = false;        // the next job begins with the newest dataset
  std::optional<PackageHead> restart_;  // the checkpoint to go on from
  PackageHead dataset_;                 // the one that is written
  std::uint64_t datasets_ = 0;
  std::uint64_t checkpoints_ = 0;
  std::optional<Kept> kept_;
  Fenix_Request request_ = FENIX_REQUEST_NULL;
};

/// The only one of this process.
Session& session();

}  // namespace scr_impl
