// SPDX-License-Identifier: BSD-3-Clause
// Wrappers of the functions that free communicators. They have no object with a destructor: control may leave by longjmp.
#include <fenix_mpi/persistent.h>
#include <mpi.h>

#include <mutex>
#include <vector>

#include "base/of_thread.hpp"
#include "mpi/base/derived.hpp"
#include "mpi/base/error_handlers.hpp"
#include "mpi/base/log_scope.hpp"
#include "mpi/base/persistent_table.hpp"
#include "mpi/base/real.hpp"
#include "mpi/calls/stand_ins.hpp"
#include "mpi/comms/attributes.hpp"
#include "mpi/comms/lives.hpp"
#include "mpi/logged/open_calls.hpp"

using namespace fenix_impl;

namespace {

/// Deletes the attributes of a communicator that was derived from the resilient one: MPI does not free it if another one stands for it.
int delete_all_attributes(MPI_Comm comm) {
  Registry& all = registry();
  {
    const std::lock_guard lock(all.mutex);
    const Derived* found = all.find(comm);
    if (found == nullptr || found == &all.root) return MPI_SUCCESS;
  }
  const int error = delete_attributes(comm);
  if (error != MPI_SUCCESS) PMPI_Comm_call_errhandler(comm, error);
  return error;
}

/// Forgets a communicator. Returns whether it was one of the registry; then unused has to be freed.
bool forget(MPI_Comm comm, std::vector<MPI_Comm>& unused) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  Derived* found = all.find(comm);
  // MPI may give the handle to another communicator.
  if (found == nullptr) all.stale.erase(comm);
  if (found == nullptr || found == &all.root) return false;
  unused = all.remove(*found);
  return true;
}

/// The same as MPI_Comm_free, while libfenix does not look.
int free_unseen_by_libfenix(MPI_Comm* comm) {
  const InterposerServices* const libfenix = registry().services;
  return libfenix != nullptr ? libfenix->free_unseen(real.Comm_free, comm) : real.Comm_free(comm);
}

/// Has the members of a communicator wait for messages whose requests they have freed: MPI_Comm_disconnect returns when nothing is under way.
int complete_before_disconnecting(MPI_Comm comm) {
  for (;;) {
    const MPI_Request request = freed_receive_on(comm);
    if (request == MPI_REQUEST_NULL) break;
    wait_for(request);
  }
  return left(logged_Barrier(comm));
}

int free_derived(MPI_Comm* comm, int (*free)(MPI_Comm*)) {
  auto& unused = of_thread<std::vector<MPI_Comm>>();
  if (comm != nullptr && *comm == MPI_COMM_WORLD && has_log(MPI_COMM_WORLD)) {
    return refuse_call(*comm, MPI_ERR_COMM, "MPI_COMM_WORLD cannot be freed");
  }
  if (comm != nullptr) forget_persistent(*comm);
  int error = comm != nullptr ? delete_all_attributes(*comm) : MPI_SUCCESS;
  if (error != MPI_SUCCESS) return error;
  if (comm != nullptr && is_logged(*comm)) {
    // A process that takes a dead one's place makes it once more, and its other ranks take part in that no more.
    if (is_transparent.load(std::memory_order_acquire)) note_freed(*comm);
    *comm = MPI_COMM_NULL;
    return MPI_SUCCESS;
  }
  if (comm == nullptr || !forget(*comm, unused)) return free(comm);
  for (MPI_Comm& one : unused) {
    const int code = free(&one);
    if (code != MPI_SUCCESS) error = code;
  }
  *comm = MPI_COMM_NULL;
  return error;
}

}  // namespace

extern "C" {

int PMPI_Comm_free(MPI_Comm* comm) { return free_derived(comm, free_unseen_by_libfenix); }

int PMPI_Comm_disconnect(MPI_Comm* comm) {
  const bool waits =
      comm != nullptr && is_transparent.load(std::memory_order_acquire) && is_logged(*comm) && *comm != MPI_COMM_WORLD;
  const int error = waits ? complete_before_disconnecting(*comm) : MPI_SUCCESS;
  return error != MPI_SUCCESS ? error : free_derived(comm, real.Comm_disconnect);
}

decltype(PMPI_Comm_free) MPI_Comm_free __attribute__((weak, alias("PMPI_Comm_free")));
decltype(PMPI_Comm_disconnect) MPI_Comm_disconnect __attribute__((weak, alias("PMPI_Comm_disconnect")));
}
