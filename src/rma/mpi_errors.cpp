// SPDX-License-Identifier: BSD-3-Clause
#include "rma/mpi_errors.hpp"

#include <mpi.h>
#include <mpi-ext.h>

#include <array>
#include <string>

#include "base/error.hpp"

namespace fenix_impl {

bool is_failure(int mpi_error) {
  int error_class = MPI_SUCCESS;
  MPI_Error_class(mpi_error, &error_class);
  return error_class == MPIX_ERR_PROC_FAILED || error_class == MPIX_ERR_PROC_FAILED_PENDING ||
         error_class == MPIX_ERR_REVOKED;
}

bool is_vague(int mpi_error) {
  int error_class = MPI_SUCCESS;
  MPI_Error_class(mpi_error, &error_class);
  return error_class == MPI_ERR_OTHER || error_class == MPI_ERR_INTERN || error_class == MPI_ERR_UNKNOWN ||
         error_class == MPI_ERR_WIN || error_class == MPI_ERR_COMM;
}

void check_mpi(int mpi_error, const char* call) {
  if (mpi_error == MPI_SUCCESS) return;
  if (is_failure(mpi_error)) throw PeerFailure(mpi_error);
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(mpi_error, text.data(), &length);
  throw MpiError(mpi_error, std::string(call) + ": " + text.data());
}

}  // namespace fenix_impl
