// SPDX-License-Identifier: BSD-3-Clause
// Spares of earlier uses of Fenix that have exited. They are inside of MPI_Finalize: MPI takes them for living, and would wait for them without
// an end.
#pragma once

#include <mpi.h>

#include "recovery/process/process.hpp"

namespace fenix_impl {

class ExitedSpares {
 public:
  /// Says whether the spares of this use are to exit at its end.
  void expect_exits(bool exit) { exit_ = exit; }
  [[nodiscard]] bool expects_exits() const { return exit_; }
  /// Notes the spares of a use that ends, if they exit.
  void note(const Process& process);
  /// Throws Error(FENIX_ERROR_INVALID_ARGUMENT) if one is in comm.
  void require_none_in(MPI_Comm comm) const;

 private:
  MPI_Group exited_ = MPI_GROUP_EMPTY;
  bool exit_ = true;
};

}  // namespace fenix_impl
