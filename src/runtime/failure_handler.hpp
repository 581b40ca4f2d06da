// SPDX-License-Identifier: BSD-3-Clause
// Errors of MPI: those that come from deaths are repaired.
#pragma once

#include <mpi.h>

#include <atomic>
#include <mutex>

#include "recovery/groups/group_registry.hpp"
#include "recovery/process/process.hpp"
#include "recovery/process/team_factory.hpp"
#include "runtime/call_gate.hpp"
#include "runtime/continuation.hpp"
#include "runtime/failure_detector.hpp"
#include "runtime/outputs.hpp"
#include "runtime/recovery_policy.hpp"
#include "runtime/resumption.hpp"
#include "runtime/settings.hpp"
#include "runtime/use_state.hpp"

namespace fenix_impl {

class FailureHandler {
 public:
  /// The parts that it works with. All must outlive it.
  struct Parts {
    const Settings& settings;
    const UseState& use;
    Process& process;
    TeamFactory& teams;
    GroupRegistry& groups;
    CallGate& gate;
    const RecoveryPolicy& policy;
    const FailureDetector& detector;
    const OutputPlaces& outputs;
    Resumption& resumption;
    Continuation& continuation;
  };
  explicit FailureHandler(const Parts& parts) : parts_(parts) {}

  /// Begins a use of Fenix, in which there was no failure.
  void begin();
  /// Reacts to an MPI error on a resilient communicator. Returns if the MPI call is to return the error. comm: where it
  /// occurred, or MPI_COMM_NULL.
  void on_mpi_error(int mpi_error, MPI_Comm comm = MPI_COMM_NULL);
  /// Does the same on a communicator from before a repair.
  void on_stale_error(int mpi_error);
  /// Repairs as FENIX_RECOVERY_MODE says, unless another thread has done so since there were so many repairs. Returns
  /// whether this thread has dealt with the failure: then callbacks are due.
  bool repair(int mpi_error, int repairs_before);
  /// Has the other ranks come to a repair, which this rank makes in its next call. Returns false if failures are not repaired.
  bool put_off_repair();
  /// Reattaches all subsystems after a repair that another rank has begun: this process has seen no error.
  void resume_after_repair();
  /// Returns the MPI error of the latest failure.
  [[nodiscard]] int latest() const { return latest_; }

 private:
  /// Whether an error that a handler gets comes from a death that has not been repaired (first), and whether it has been since then (second).
  struct Finding {
    bool is_failure = false;
    bool is_repaired = false;
  };
  [[nodiscard]] Finding look_at(int mpi_error, int repairs_before, bool is_announced, bool may_be_stale);
  void report_stale_call();
  void report_unhandled(int mpi_error) const;

  const Parts parts_;
  int latest_ = MPI_SUCCESS;
  std::atomic<int> reported_repairs_{0};  // those after which a call on a communicator from before has been reported
  std::mutex repair_mutex_;
};

}  // namespace fenix_impl
