// SPDX-License-Identifier: BSD-3-Clause
// Errors of MPI that come from deaths, and those deaths.
#pragma once

#include "recovery/process/process.hpp"
#include "runtime/use_state.hpp"

namespace fenix_impl {

class FailureDetector {
 public:
  /// Both must outlive it.
  FailureDetector(const Process& process, const UseState& use) : process_(process), use_(use) {}

  /// Whether an MPI error comes from a death, though it may not say so: Open MPI has calls that fail with
  /// MPI_ERR_OTHER, and the notice of the death comes a little later.
  [[nodiscard]] bool comes_from_failure(int mpi_error) const;
  /// Whether the death behind an error has been repaired since there were so many repairs. With several threads, the error may come from a
  /// communicator that another thread has repaired in the meantime: then the present one is in order.
  [[nodiscard]] bool repaired_elsewhere(int repairs_before) const;

  /// Tells that the next MPI error of this thread is known to come from no death. MPI_SUCCESS takes that back.
  static void announce_error(int mpi_error) { announced_error_ = mpi_error; }
  /// Returns whether an error has been announced so, and forgets that.
  [[nodiscard]] static bool take_announced(int mpi_error);

  /// Notes that this thread has resumed after so many repairs.
  static void note_known(int repairs) { known_repairs_ = repairs; }
  /// Whether it has resumed after the latest one.
  [[nodiscard]] bool knows_latest() const { return known_repairs_ == process_.repair().count(); }

 private:
  const Process& process_;
  const UseState& use_;
  static thread_local int known_repairs_;
  static thread_local int announced_error_;
};

}  // namespace fenix_impl
