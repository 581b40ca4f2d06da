// SPDX-License-Identifier: BSD-3-Clause
// The C++ interface's exception for failures, in the form in which the layers below that interface know it.
#pragma once

#include <mpi.h>

#include <functional>

namespace fenix_impl {

/// The functions are set by the interface before a program starts: recovery must not include public headers.
struct FailureException {
  /// Throws it. repaired: the communicator after the repair.
  void (*raise)(MPI_Comm repaired, int mpi_error) = nullptr;
  /// Calls work, and drops it if work throws it.
  void (*drop)(const std::function<void()>& work) = nullptr;
};

}  // namespace fenix_impl
