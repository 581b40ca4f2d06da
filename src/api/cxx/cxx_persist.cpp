// SPDX-License-Identifier: BSD-3-Clause
#include <dlfcn.h>
#include <fenix.hpp>

#include "api/cxx/cxx_throw.hpp"
#include "rma/mpi_errors.hpp"
#include "runtime/entry.hpp"

using namespace fenix_impl;

namespace fenix {
namespace {

int code_of_persist(int mpi_error) {
  if (mpi_error == MPI_SUCCESS) return FENIX_SUCCESS;
  if (is_failure(mpi_error)) return FENIX_ERROR_CANCELLED;
  if (mpi_error == MPI_ERR_NO_MEM) return FENIX_ERROR_NO_MEMORY;
  if (mpi_error != MPI_ERR_OTHER) return FENIX_ERROR_INVALID_ARGUMENT;
  return runtime().use().ready() ? FENIX_ERROR_NOCATEGORY : FENIX_ERROR_UNINITIALIZED;
}

}  // namespace

MPI_Comm comm_persist(MPI_Comm comm, const std::string& key, MPI_Info info) {
  MPI_Comm made = MPI_COMM_NULL;
  // The library that has the function need not be in the process.
  const auto persist = reinterpret_cast<decltype(&MPI_Comm_persist)>(dlsym(RTLD_DEFAULT, "MPI_Comm_persist"));
  if (persist == nullptr) {
    (void)thrown(report(FENIX_ERROR_INVALID_LOGIC_CALL, "libfenix_mpi is neither linked before MPI nor preloaded"));
  }
  if (key.find('\0') != std::string::npos) (void)thrown(report(FENIX_ERROR_INVALID_ARGUMENT, "key has a zero byte"));
  (void)thrown(code_of_persist(persist(comm, key.c_str(), info, &made)));
  return made;
}

bool failure() {
  int flag = 0;
  (void)thrown(Fenix_Failure(&flag));
  return flag != 0;
}

}  // namespace fenix
