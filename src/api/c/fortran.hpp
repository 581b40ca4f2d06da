// SPDX-License-Identifier: BSD-3-Clause
// Functions that the Fortran interface needs in addition to the C interface.
#pragma once

#include <mpi.h>

extern "C" {

/// Does the work of Fenix_Init, in resume mode "return" for any setting: neither longjmp nor exceptions may pass
/// through Fortran. newcomm is written again after each repair, as a handle of Fortran.
int fenix_detail_fortran_init(int* role, MPI_Comm comm, MPI_Fint* newcomm, int spare_ranks, int spawn, MPI_Info info,
                              int* error);

/// Records for Fenix_Error_message why an argument was refused, and returns code.
int fenix_detail_refuse(int code, const char* why);
}
