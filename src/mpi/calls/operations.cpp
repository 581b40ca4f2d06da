// SPDX-License-Identifier: BSD-3-Clause
// MPI_Op_free. A reduction of logged messages needs its operation until it is complete, and MPI would use the handle again for another one. So
// such an operation is freed when no reduction has it.
#include <mpi.h>

#include <vector>

#include "mpi/base/kept_handles.hpp"
#include "mpi/base/real.hpp"
#include "mpi/base/stand_in_table.hpp"

using namespace fenix_impl;

extern "C" {

int PMPI_Op_free(MPI_Op* op) {
  if (op == nullptr || *op == MPI_OP_NULL) return real.Op_free(op);
  bool is_kept = false;
  std::vector<MPI_Op> unused;
  {
    const auto lock = lock_stand_ins();
    unused = kept_handles<MPI_Op>().take_unused(uses_operation_in_stand_ins);
    is_kept = uses_operation_in_stand_ins(*op);
    if (is_kept) kept_handles<MPI_Op>().keep(*op);
  }
  for (MPI_Op& each : unused) (void)real.Op_free(&each);
  if (!is_kept) return real.Op_free(op);
  *op = MPI_OP_NULL;
  return MPI_SUCCESS;
}

decltype(PMPI_Op_free) MPI_Op_free __attribute__((weak, alias("PMPI_Op_free")));
}
