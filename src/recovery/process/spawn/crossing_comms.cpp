// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/process/spawn/crossing_comms.hpp"

#include <mpi.h>

#include "recovery/process/derived.hpp"

namespace fenix_impl {
namespace {

/// Whether comm has a process that was not started together with this one.
bool is_crossing(MPI_Comm comm) {
  int between_groups = 0;
  if (MPI_Comm_test_inter(comm, &between_groups) != MPI_SUCCESS) return false;
  return between_groups != 0 || !has_only_processes_of(comm, MPI_COMM_WORLD);
}

int free_crossing_comms(MPI_Comm, int, void*, void*) {
  for_each_communicator([](MPI_Comm comm) {
    if (!is_crossing(comm)) return;
    // A request that is never started keeps the memory: abandoned windows use their communicators later on.
    MPI_Request keeper = MPI_REQUEST_NULL;
    MPI_Recv_init(nullptr, 0, MPI_BYTE, 0, 0, comm, &keeper);
    MPI_Comm_free(&comm);
  });
  return MPI_SUCCESS;
}

}  // namespace

void free_crossing_comms_at_finalize() {
  static int key = MPI_KEYVAL_INVALID;
  if (key != MPI_KEYVAL_INVALID) return;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_crossing_comms, &key, nullptr);
  // MPI_Finalize begins with the attributes of MPI_COMM_SELF.
  MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
}

}  // namespace fenix_impl
