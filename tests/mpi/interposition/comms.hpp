// SPDX-License-Identifier: BSD-3-Clause
// Short forms for tests of communicators.
#pragma once

#include <mpi.h>
#include <mpi-ext.h>

inline int rank_in(MPI_Comm comm) {
  int rank = -1;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

inline int size_of(MPI_Comm comm) {
  int size = -1;
  MPI_Comm_size(comm, &size);
  return size;
}

/// Returns the class of an error of MPI.
inline int class_of(int code) {
  int error_class = -1;
  MPI_Error_class(code, &error_class);
  return error_class;
}

/// Whether an error of MPI tells of a death.
inline bool is_failure(int code) {
  return class_of(code) == MPIX_ERR_PROC_FAILED || class_of(code) == MPIX_ERR_REVOKED;
}
