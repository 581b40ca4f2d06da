// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/comms/predefined_attributes.hpp"

#include <dlfcn.h>

#include <mutex>
#include <set>

#include "mpi/base/derived.hpp"

namespace fenix_impl {
namespace {

struct Duplicates {
  std::mutex mutex;
  std::set<MPI_Comm> of_world;
};

/// They outlive MPI_Finalize.
Duplicates& duplicates() {
  static auto* instance = new Duplicates;
  return *instance;
}

/// Whether MPI copies an attribute of its own to duplicates of MPI_COMM_WORLD. The latest error code is not copied.
bool is_copied(int keyval) {
  switch (keyval) {
    case MPI_TAG_UB:
    case MPI_HOST:
    case MPI_IO:
    case MPI_WTIME_IS_GLOBAL:
    case MPI_UNIVERSE_SIZE:
    case MPI_APPNUM:
      return true;
    default:
      return false;
  }
}

/// Returns the communicator whose attribute is that of another one.
MPI_Comm owner_of(int keyval, MPI_Comm comm) {
  return is_copied(keyval) && has_those_of_world(comm) ? MPI_COMM_WORLD : comm;
}

/// Returns a function of MPI, which may have been loaded before this library.
template <class Function>
Function find_in(const char* library, const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  void* loaded = found == nullptr ? dlopen(library, RTLD_NOW | RTLD_NOLOAD) : nullptr;
  if (loaded != nullptr) found = dlsym(loaded, name);
  return reinterpret_cast<Function>(found);
}

/// Calls a function of MPI's library for Fortran, for the communicator that has the attribute.
template <class Value>
void get_in_fortran(const char* name, const MPI_Fint* comm, MPI_Fint* keyval, Value* value, MPI_Fint* flag,
                    MPI_Fint* error) {
  using Function = void (*)(MPI_Fint*, MPI_Fint*, Value*, MPI_Fint*, MPI_Fint*);
  const auto real_one = find_in<Function>("libmpi_mpifh.so.40", name);
  MPI_Fint owner = *comm;
  const MPI_Comm asked = PMPI_Comm_f2c(*comm);
  const MPI_Comm answers = owner_of(*keyval, asked);
  if (answers != asked) owner = PMPI_Comm_c2f(answers);
  real_one(&owner, keyval, value, flag, error);
}

}  // namespace

bool has_those_of_world(MPI_Comm comm) {
  if (comm == MPI_COMM_WORLD) return true;
  {
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    if (comm != MPI_COMM_NULL && comm == all.root.name) return true;
  }
  const std::lock_guard lock(duplicates().mutex);
  return duplicates().of_world.count(comm) > 0;
}

void note_duplicate_of_world(MPI_Comm comm, bool is_one) {
  const std::lock_guard lock(duplicates().mutex);
  if (is_one) {
    duplicates().of_world.insert(comm);
  } else {
    duplicates().of_world.erase(comm);
  }
}

}  // namespace fenix_impl

using namespace fenix_impl;

extern "C" {

int PMPI_Comm_get_attr(MPI_Comm comm, int comm_keyval, void* attribute_val, int* flag) {
  static const auto real_get = find_in<decltype(&PMPI_Comm_get_attr)>("libmpi.so.40", "PMPI_Comm_get_attr");
  return real_get(owner_of(comm_keyval, comm), comm_keyval, attribute_val, flag);
}
decltype(PMPI_Comm_get_attr) MPI_Comm_get_attr __attribute__((weak, alias("PMPI_Comm_get_attr")));

// The names of MPI 1, which mpi.h does not declare any more.
decltype(PMPI_Comm_get_attr) fenix_attr_get_p __asm__("PMPI_Attr_get")
    __attribute__((weak, alias("PMPI_Comm_get_attr")));
decltype(PMPI_Comm_get_attr) fenix_attr_get __asm__("MPI_Attr_get") __attribute__((weak, alias("PMPI_Comm_get_attr")));

// Open MPI's library for Fortran reads attributes without a call of these. LOGICAL is as large as INTEGER.
void ompi_comm_get_attr_f(MPI_Fint* comm, MPI_Fint* keyval, MPI_Aint* value, MPI_Fint* flag, MPI_Fint* error) {
  get_in_fortran("ompi_comm_get_attr_f", comm, keyval, value, flag, error);
}
void ompi_attr_get_f(MPI_Fint* comm, MPI_Fint* keyval, MPI_Fint* value, MPI_Fint* flag, MPI_Fint* error) {
  get_in_fortran("ompi_attr_get_f", comm, keyval, value, flag, error);
}
decltype(ompi_comm_get_attr_f) mpi_comm_get_attr_ __attribute__((alias("ompi_comm_get_attr_f")));
decltype(ompi_comm_get_attr_f) pmpi_comm_get_attr_ __attribute__((alias("ompi_comm_get_attr_f")));
decltype(ompi_attr_get_f) mpi_attr_get_ __attribute__((alias("ompi_attr_get_f")));
decltype(ompi_attr_get_f) pmpi_attr_get_ __attribute__((alias("ompi_attr_get_f")));
}
