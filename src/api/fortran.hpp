// SPDX-License-Identifier: BSD-3-Clause
// What the Fortran interface needs besides the C interface.
#pragma once

#include <mpi.h>

extern "C" {

/// Fenix_Init in resume mode "return", whatever is set: neither longjmp nor exceptions may pass through Fortran. newcomm is
/// written again after each repair, as a handle of Fortran.
int fenix_detail_fortran_init(int* role, MPI_Comm comm, MPI_Fint* newcomm, int spare_ranks, int spawn, MPI_Info info,
                              int* error);

/// Notes why an argument was refused, for Fenix_Error_message, and returns code.
int fenix_detail_refuse(int code, const char* why);
}
