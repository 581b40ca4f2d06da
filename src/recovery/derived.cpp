// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/derived.hpp"

#include <mpi-ext.h>

#include "rma/quiet_comm.hpp"

namespace fenix_impl {
namespace {

// The library knows communicators only as the numbers that Fortran programs would use for them. Open MPI gives every
// communicator the lowest free number, so a long run of unused numbers is the end.
constexpr MPI_Fint kUnusedRun = 4096;

}  // namespace

bool has_handler(MPI_Comm comm, MPI_Errhandler wanted) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  if (MPI_Comm_get_errhandler(comm, &handler) != MPI_SUCCESS) return false;
  const bool same = handler == wanted;
  MPI_Errhandler_free(&handler);
  return same;
}

void for_each_communicator(const std::function<void(MPI_Comm)>& visit) {
  MPI_Fint unused = 0;
  for (MPI_Fint number = 0; unused < kUnusedRun; ++number) {
    MPI_Comm comm = MPI_Comm_f2c(number);
    unused = comm == nullptr ? unused + 1 : 0;
    if (comm == nullptr || comm == MPI_COMM_NULL || comm == MPI_COMM_SELF || comm == MPI_COMM_WORLD) continue;
    visit(comm);
  }
}

void revoke_derived(MPI_Errhandler inherited) {
  // Errors about a communicator that is being freed come to these two communicators.
  const QuietComm quiet_world(MPI_COMM_WORLD);
  const QuietComm quiet_self(MPI_COMM_SELF);
  for_each_communicator([&](MPI_Comm comm) {
    int revoked = 0;
    if (!has_handler(comm, inherited) || MPIX_Comm_is_revoked(comm, &revoked) != MPI_SUCCESS) return;
    if (revoked == 0) MPIX_Comm_revoke(comm);
  });
}

}  // namespace fenix_impl
