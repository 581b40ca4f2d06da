// SPDX-License-Identifier: BSD-3-Clause
#include <dlfcn.h>

#include "fortran/handles.hpp"

extern "C" {

// The library that has the function need not be in the process.
void fenix_f_comm_persist(int comm, const char* key, int info, int* persistentcomm, int* ierr) {
  const auto persist = reinterpret_cast<decltype(&MPI_Comm_persist)>(dlsym(RTLD_DEFAULT, "MPI_Comm_persist"));
  MPI_Comm made = MPI_COMM_NULL;
  if (persist != nullptr) {
    *ierr = persist(MPI_Comm_f2c(comm), key, MPI_Info_f2c(info), &made);
  } else {
    *ierr = MPI_ERR_OTHER;
    (void)fenix_detail_refuse(FENIX_ERROR_INVALID_LOGIC_CALL,
                              "libfenix_mpi is neither linked before MPI nor preloaded");
  }
  *persistentcomm = MPI_Comm_c2f(made);
}

void fenix_f_failure(int* flag, int* ierr) { *ierr = Fenix_Failure(flag); }

}  // extern "C"
