// SPDX-License-Identifier: BSD-3-Clause
// The one object that owns everything: communicators, groups, settings, callbacks.
#pragma once

#include <mpi.h>

#include <csetjmp>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/group.hpp"
#include "recovery/callbacks.hpp"
#include "recovery/process.hpp"
#include "recovery/rejoin.hpp"
#include "recovery/settings.hpp"

namespace fenix_impl {

/// Where Fenix_Init puts what it has to say, at the start and after each repair. All but comm may be null.
struct Outputs {
  int* role = nullptr;
  MPI_Comm* comm = nullptr;
  int* error = nullptr;
};

class Runtime {
 public:
  Settings settings;
  Callbacks callbacks;
  std::string last_message;  ///< text of the last error that a public function returned

  [[nodiscard]] bool initialized() const { return initialized_; }
  [[nodiscard]] bool finalized() const { return finalized_; }
  [[nodiscard]] bool ready() const { return initialized_ && !finalized_; }
  /// Throws Error(FENIX_ERROR_UNINITIALIZED) unless ready.
  void require_ready() const;

  /// Collective over comm. Throws Error on all ranks if the arguments are wrong on one, or if one has died.
  void start(MPI_Comm comm, int spares, int spawn, MPI_Info info, const Outputs& outputs, std::jmp_buf* resume_point);
  /// Returns at once in active ranks, in spares when they become active or are released; spares that are to exit do not
  /// return.
  void serve_as_spare();
  /// Writes role, communicator and error to where Fenix_Init was told to.
  void write_outputs() const;
  /// Ends the use of Fenix. False if a repair was due instead and has been done: then resume().
  bool finish();

  /// True if an MPI error comes from a death, though it may not say so: Open MPI has calls that fail with MPI_ERR_OTHER, and
  /// the notice of the death comes a little later.
  [[nodiscard]] bool comes_from_failure(int mpi_error) const;
  /// What an MPI error on a resilient communicator leads to. Returns if the MPI call is to return the error.
  void on_mpi_error(int mpi_error);
  /// Repairs as FENIX_RECOVERY_MODE says.
  void repair(int mpi_error);
  /// Calls the callbacks, and goes on as FENIX_RESUME_MODE says: returns only in mode "return".
  void resume(int mpi_error);

  [[nodiscard]] const Process& process() const { return process_; }
  /// FENIX_SUCCESS or FENIX_WARNING_SPARE_RANKS_DEPLETED.
  [[nodiscard]] int error() const;
  [[nodiscard]] int latest_failure() const { return latest_failure_; }

  /// Collective over comm.
  RejoinResult create_group(const GroupParameters& parameters, MPI_Comm comm,
                            const std::function<void()>& check_arguments);
  [[nodiscard]] bool has_group(int group_id) const;
  /// Throws Error(FENIX_ERROR_INVALID_GROUPID).
  [[nodiscard]] Group& group(int group_id) const;
  /// The same, for work with peers. Throws Error(FENIX_ERROR_INVALID_LOGIC_CALL) too, if the group has to be created again.
  [[nodiscard]] Group& working_group(int group_id) const;

  /// While one of these lives, failures are the library's own business: MPI calls return their errors.
  class Inside {
   public:
    explicit Inside(Runtime& runtime) : runtime_(runtime) { ++runtime_.inside_; }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
    ~Inside() { --runtime_.inside_; }

   private:
    Runtime& runtime_;
  };

 private:
  void check_start(MPI_Comm comm, int spares, int spawn, MPI_Info info, const Outputs& outputs);
  void keep_only_whole(int group_id);
  void run_callbacks(int mpi_error);
  void report_unhandled(int mpi_error) const;

  bool initialized_ = false;
  bool finalized_ = false;
  int inside_ = 0;
  int latest_failure_ = MPI_SUCCESS;
  Process process_;
  MPI_Errhandler handler_ = MPI_ERRHANDLER_NULL;
  Outputs outputs_;
  std::jmp_buf* resume_point_ = nullptr;
  std::map<int, std::unique_ptr<Group>> groups_;
};

/// The library's only mutable global. Never destroyed: MPI may call back while the process exits.
Runtime& runtime();

}  // namespace fenix_impl
