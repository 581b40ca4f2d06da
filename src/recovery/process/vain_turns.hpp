// SPDX-License-Identifier: BSD-3-Clause
// Repairs that meet an error which is no death, again and again.
#pragma once

#include <mpi.h>

#include <functional>
#include <string>

namespace fenix_impl {

class VainTurns {
 public:
  /// Notes that a rank has died: all begins anew.
  void note_failure() { turns_ = 0; }
  /// Runs a step of a turn. Returns whether it has succeeded. Keeps the text of an error that is no death. Throws nothing.
  [[nodiscard]] bool run(const std::function<void()>& step);
  /// Notes that one more turn has failed. Waits for the notice of a death in comm, which may be late. After too many turns without a
  /// death it prints the latest error, and calls MPI_Abort.
  void note_turn(MPI_Comm comm);

 private:
  void keep(const char* text) noexcept;
  void end_job() const;

  int turns_ = 0;  // since the latest death
  std::string error_;
};

/// Runs a step that may throw, and agrees on its success. Collective over living; false on all its ranks if the step failed on
/// one, or if one has died.
[[nodiscard]] bool all_do(MPI_Comm living, VainTurns& turns, const std::function<void()>& step);

}  // namespace fenix_impl
