// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/derived.hpp"

#include <mpi-ext.h>

namespace fenix_impl {
namespace {

// Communicators are known to us only as the numbers that Fortran programs would use for them. Open MPI gives every
// communicator the lowest free one, so a long run of unused numbers is the end.
constexpr MPI_Fint kUnusedRun = 4096;

/// Makes errors about a communicator that is being freed end in a return code while it lives.
class QuietErrors {
 public:
  QuietErrors() {
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &world_);
    MPI_Comm_get_errhandler(MPI_COMM_SELF, &self_);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  }
  QuietErrors(const QuietErrors&) = delete;
  QuietErrors& operator=(const QuietErrors&) = delete;
  ~QuietErrors() {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, world_);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, self_);
    MPI_Errhandler_free(&world_);
    MPI_Errhandler_free(&self_);
  }

 private:
  MPI_Errhandler world_ = MPI_ERRHANDLER_NULL;
  MPI_Errhandler self_ = MPI_ERRHANDLER_NULL;
};

bool has_handler(MPI_Comm comm, MPI_Errhandler wanted) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  if (MPI_Comm_get_errhandler(comm, &handler) != MPI_SUCCESS) return false;
  const bool same = handler == wanted;
  MPI_Errhandler_free(&handler);
  return same;
}

}  // namespace

void revoke_derived(MPI_Errhandler inherited) {
  const QuietErrors quiet;
  MPI_Fint unused = 0;
  for (MPI_Fint number = 0; unused < kUnusedRun; ++number) {
    const MPI_Comm comm = MPI_Comm_f2c(number);
    if (comm == nullptr) {
      ++unused;
      continue;
    }
    unused = 0;
    if (comm == MPI_COMM_NULL || comm == MPI_COMM_SELF || comm == MPI_COMM_WORLD) continue;
    int revoked = 0;
    if (!has_handler(comm, inherited) || MPIX_Comm_is_revoked(comm, &revoked) != MPI_SUCCESS) continue;
    if (revoked == 0) MPIX_Comm_revoke(comm);
  }
}

}  // namespace fenix_impl
