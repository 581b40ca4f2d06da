// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/exited_spares.hpp"

#include <string>

#include "base/error.hpp"
#include "rma/mpi_errors.hpp"

namespace fenix_impl {

void ExitedSpares::note(const Process& process) {
  if (!exit_) return;
  MPI_Group spares = process.members().group_of_spares(process.comms().world());
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group_union(exited_, spares, &all);
  MPI_Group_free(&spares);
  if (exited_ != MPI_GROUP_EMPTY) MPI_Group_free(&exited_);
  exited_ = all;
}

void ExitedSpares::require_none_in(MPI_Comm comm) const {
  MPI_Group theirs = MPI_GROUP_NULL;
  MPI_Group both = MPI_GROUP_NULL;
  int exited = 0;
  check_mpi(MPI_Comm_group(comm, &theirs), "MPI_Comm_group");
  MPI_Group_intersection(theirs, exited_, &both);
  MPI_Group_size(both, &exited);
  MPI_Group_free(&theirs);
  MPI_Group_free(&both);
  if (exited == 0) return;
  throw Error(FENIX_ERROR_INVALID_ARGUMENT, "comm has " + std::to_string(exited) +
                                                " spare ranks of an earlier use of Fenix, which have exited: see "
                                                "FENIX_SPARE_FINALIZE_RELEASE");
}

}  // namespace fenix_impl
