// SPDX-License-Identifier: BSD-3-Clause
// Programs that know nothing of Fenix: with FENIX_SPARES in the environment, MPI_Init begins its use, and MPI_Finalize ends it.
#include <dlfcn.h>
#include <mpi.h>

#include <cstdio>
#include <cstdlib>

#include "mpi/logged.hpp"
#include "mpi/real.hpp"

using namespace fenix_impl;

namespace {

/// Returns a function of libfenix, which is loaded if it is not there.
void* find_in_libfenix(const char* name) {
  if (void* found = dlsym(RTLD_DEFAULT, name)) return found;
  void* library = dlopen("libfenix.so.1", RTLD_NOW | RTLD_GLOBAL);
  return library != nullptr ? dlsym(library, name) : nullptr;
}

int begin() {
  const char* spares = std::getenv("FENIX_SPARES");
  if (spares == nullptr) return MPI_SUCCESS;
  const auto function = reinterpret_cast<int (*)(int)>(find_in_libfenix("fenix_detail_begin"));
  const auto message = reinterpret_cast<const char* (*)()>(find_in_libfenix("Fenix_Error_message"));
  if (function == nullptr || message == nullptr) {
    std::fprintf(stderr, "fenix: FENIX_SPARES is set, and libfenix is not found: %s\n", dlerror());
    return MPI_ERR_OTHER;
  }
  const int code = function(std::atoi(spares));
  if (code < 0) {
    std::fprintf(stderr, "fenix: MPI_Init: %s\n", message());
    return MPI_ERR_OTHER;
  }
  is_transparent.store(true, std::memory_order_release);
  logs_messages.store(true, std::memory_order_release);
  return MPI_SUCCESS;
}

}  // namespace

extern "C" {

int PMPI_Init(int* argc, char*** argv) {
  const int error = real.Init(argc, argv);
  return error == MPI_SUCCESS ? begin() : error;
}

int PMPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const int error = real.Init_thread(argc, argv, required, provided);
  return error == MPI_SUCCESS ? begin() : error;
}

int PMPI_Finalize(void) {
  if (is_transparent.load(std::memory_order_acquire)) {
    wait_for_sent_messages();
    const auto function = reinterpret_cast<int (*)()>(find_in_libfenix("fenix_detail_end"));
    if (function != nullptr) (void)function();
    logs_messages.store(false, std::memory_order_release);
    is_transparent.store(false, std::memory_order_release);
  }
  return real.Finalize();
}

decltype(PMPI_Init) MPI_Init __attribute__((weak, alias("PMPI_Init")));
decltype(PMPI_Init_thread) MPI_Init_thread __attribute__((weak, alias("PMPI_Init_thread")));
decltype(PMPI_Finalize) MPI_Finalize __attribute__((weak, alias("PMPI_Finalize")));
}
