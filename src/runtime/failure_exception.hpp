// SPDX-License-Identifier: BSD-3-Clause
// The C++ interface's exception for failures, in the form in which the layers below that interface know it.
#pragma once

#include <mpi.h>

namespace fenix_impl {

/// The functions are set by the interface before a program starts: recovery must not include public headers.
struct FailureException {
  /// Throws it. repaired: the communicator after the repair; error: that of Fenix_Init.
  void (*raise)(MPI_Comm repaired, int error, int mpi_error) = nullptr;
  /// Returns whether the exception that is being handled is one. Called in a handler only.
  bool (*is_handled)() = nullptr;
};

}  // namespace fenix_impl
