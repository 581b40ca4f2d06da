// SPDX-License-Identifier: BSD-3-Clause
// Errors on a communicator that is not ours.
#pragma once

#include <mpi.h>

namespace fenix_impl {

/// Returns the error handler of the library's own communicators. Errors are returned, as with MPI_ERRORS_RETURN, but no
/// search takes them for communicators of the program. Local.
[[nodiscard]] MPI_Errhandler library_errors_return();

/// Makes MPI errors on a communicator end in return codes while it lives, or gives it another handler.
class QuietComm {
 public:
  explicit QuietComm(MPI_Comm comm, MPI_Errhandler meanwhile = MPI_ERRORS_RETURN) : comm_(comm) {
    MPI_Comm_get_errhandler(comm_, &handler_);
    MPI_Comm_set_errhandler(comm_, meanwhile);
  }
  QuietComm(const QuietComm&) = delete;
  QuietComm& operator=(const QuietComm&) = delete;
  ~QuietComm() {
    MPI_Comm_set_errhandler(comm_, handler_);
    MPI_Errhandler_free(&handler_);
  }

 private:
  MPI_Comm comm_;
  MPI_Errhandler handler_ = MPI_ERRHANDLER_NULL;
};

}  // namespace fenix_impl
