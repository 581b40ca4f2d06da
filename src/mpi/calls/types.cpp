// SPDX-License-Identifier: BSD-3-Clause
// MPI_Type_free. A request may need its type after the program has freed it: a receive that waits for a number, a persistent request, a later
// message of a collective operation. MPI would use the handle again for another type. So such a type is freed when no request has it.
#include <mpi.h>

#include <vector>

#include "mpi/base/kept_handles.hpp"
#include "mpi/base/real.hpp"
#include "mpi/base/stand_in_table.hpp"
#include "mpi/logged/counted_receives.hpp"
#include "mpi/logged/fast_requests.hpp"

namespace fenix_impl {
namespace {

bool is_in_use(MPI_Datatype type) {
  return uses_type_in_stand_ins(type) || uses_type_in_fast_requests(type) || uses_type_in_counted_receives(type);
}

/// Keeps a type that a request has. Returns false if MPI is to free it, or to refuse: it has types of its own.
bool keep_if_in_use(MPI_Datatype type) {
  int integers = 0;
  int addresses = 0;
  int types = 0;
  int combiner = 0;
  if (!is_in_use(type)) return false;
  const int error = PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  if (error != MPI_SUCCESS || combiner == MPI_COMBINER_NAMED) return false;
  kept_handles<MPI_Datatype>().keep(type);
  return true;
}

}  // namespace
}  // namespace fenix_impl

using namespace fenix_impl;

extern "C" {

int PMPI_Type_free(MPI_Datatype* type) {
  if (type == nullptr || *type == MPI_DATATYPE_NULL) return real.Type_free(type);
  bool is_kept = false;
  std::vector<MPI_Datatype> unused;
  {
    const auto lock = lock_stand_ins();
    unused = kept_handles<MPI_Datatype>().take_unused(is_in_use);
    is_kept = keep_if_in_use(*type);
  }
  // Not under the lock: functions of the program that delete attributes may call MPI.
  for (MPI_Datatype& each : unused) (void)real.Type_free(&each);
  if (!is_kept) return real.Type_free(type);
  *type = MPI_DATATYPE_NULL;
  return MPI_SUCCESS;
}

decltype(PMPI_Type_free) MPI_Type_free __attribute__((weak, alias("PMPI_Type_free")));
}
