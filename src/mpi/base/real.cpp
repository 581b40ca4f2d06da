// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/base/real.hpp"

#include <dlfcn.h>

namespace fenix_impl {
namespace {

// The next object that has the function is MPI, whatever else the program has loaded in which order. Tools that count or trace calls
// own the names without P.
void* find_real(const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  if (found != nullptr) return found;
  // MPI was loaded before this library.
  void* mpi = dlopen("libmpi.so.40", RTLD_NOW | RTLD_NOLOAD);
  return mpi != nullptr ? dlsym(mpi, name) : nullptr;
}

[[gnu::constructor(101)]] void find_all() {
#define FENIX_MPI_FIND(NAME, SYMBOL) real.NAME = reinterpret_cast<decltype(real.NAME)>(find_real(#SYMBOL));
  FENIX_MPI_FOR_EACH(FENIX_MPI_FIND)
#undef FENIX_MPI_FIND
}

}  // namespace

constinit fenix_mpi_functions real{};

bool calls_may_overlap() {
  static const bool may = [] {
    int level = MPI_THREAD_MULTIPLE;
    PMPI_Query_thread(&level);
    return level == MPI_THREAD_MULTIPLE;
  }();
  return may;
}

bool is_in_front() {
  return reinterpret_cast<decltype(real.Barrier)>(dlsym(RTLD_DEFAULT, "PMPI_Barrier")) != real.Barrier;
}

}  // namespace fenix_impl
