// SPDX-License-Identifier: BSD-3-Clause
// MPI_Comm_persist. No function here has an object with a destructor: control may leave by longjmp.
#include <mpi.h>

#include "mpi/base/derived.hpp"
#include "mpi/base/error_handlers.hpp"
#include "mpi/base/handles.hpp"
#include "mpi/base/libfenix.hpp"
#include "mpi/base/persistent_table.hpp"
#include "mpi/base/real.hpp"
#include "mpi/comms/constructors.hpp"

using namespace fenix_impl;

extern "C" {

int PMPI_Comm_persist(MPI_Comm comm, const char* key, MPI_Info info, MPI_Comm* persistentcomm) {
  if (persistentcomm == nullptr) return refuse_call(comm, MPI_ERR_ARG, "persistentcomm is NULL");
  *persistentcomm = MPI_COMM_NULL;
  if (comm == MPI_COMM_NULL) return refuse_call(comm, MPI_ERR_COMM, "comm is MPI_COMM_NULL");
  const PersistServices* services = persist_services();
  if (services == nullptr) return refuse_call(comm, MPI_ERR_OTHER, "called before Fenix_Init");
  int is_inter = 0;
  int error = real.Comm_test_inter(now(comm), &is_inter);
  if (error != MPI_SUCCESS) return error;
  if (is_inter != 0) return refuse_call(comm, MPI_ERR_COMM, "comm is an intercommunicator");
  error = duplicate(comm, __builtin_return_address(0), persistentcomm);
  if (error != MPI_SUCCESS) return error;
  int is_delivered = 0;
  // The communicator is there on all ranks. After a death meanwhile, some may have come out of the call, and will not come back.
  do {
    error = services->open(*persistentcomm, key, info, &is_delivered);
  } while (error != MPI_SUCCESS && tells_of_failure(error));
  if (error != MPI_SUCCESS) {
    PMPI_Comm_free(persistentcomm);
    return raise_on(comm, error);
  }
  note_persistent(*persistentcomm, is_delivered != 0 ? Persistent::delivers : Persistent::stores);
  return MPI_SUCCESS;
}

decltype(PMPI_Comm_persist) MPI_Comm_persist __attribute__((weak, alias("PMPI_Comm_persist")));
}
