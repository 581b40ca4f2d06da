// SPDX-License-Identifier: BSD-3-Clause
#include "api/c/fortran.hpp"

#include <fenix.h>

#include "runtime/entry.hpp"

using namespace fenix_impl;

extern "C" {

int fenix_detail_fortran_init(int* role, MPI_Comm comm, MPI_Fint* newcomm, int spare_ranks, int spawn, MPI_Info info,
                              int* error) {
  static MPI_Comm resilient = MPI_COMM_NULL;
  const bool in_use = runtime().use().ready();
  const Settings before = runtime().settings;
  // info may name another mode.
  const int code = Fenix_Init_no_jump(role, comm, newcomm != nullptr ? &resilient : nullptr, nullptr, nullptr,
                                      spare_ranks, spawn, info, error);
  if (!in_use && runtime().use().ready()) {
    runtime().lifecycle().restore_at_end(before);
    runtime().settings.set(FENIX_RESUME_MODE, FENIX_RESUME_RETURN);
    runtime().outputs().write_comm_also_to(newcomm);
    fenix_detail_postinit();
  }
  // A second call must not overwrite the communicator of the first.
  if (!in_use && newcomm != nullptr) *newcomm = MPI_Comm_c2f(resilient);
  return code;
}

int fenix_detail_refuse(int code, const char* why) { return report(code, why); }

}  // extern "C"
