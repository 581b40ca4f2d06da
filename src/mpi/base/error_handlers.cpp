// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/base/error_handlers.hpp"

#include <dlfcn.h>

#include "mpi/base/handles.hpp"
#include "mpi/base/libfenix.hpp"
#include "mpi/base/real.hpp"

namespace fenix_impl {
namespace {

MPI_Errhandler handler_of(MPI_Comm comm) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  real.Comm_get_errhandler(comm, &handler);
  return handler;
}

/// Returns the communicator that keeps the handler of the program for one of its communicators, or MPI_COMM_NULL.
MPI_Comm find_keeper(MPI_Comm comm, bool by_name) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  const Derived* found = by_name ? all.find(comm) : all.find_working(comm);
  return found != nullptr ? found->handler_keeper : MPI_COMM_NULL;
}

/// A program that knows nothing of Fenix is to find the handler that MPI has at first.
void keep_first_handler(MPI_Comm comm) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  Derived* found = all.find(comm);
  if (found != nullptr && found->handler_keeper == MPI_COMM_NULL) (void)keep_handler(*found, MPI_ERRORS_ARE_FATAL);
}

}  // namespace

void share_handler(MPI_Comm from, MPI_Comm to) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  real.Comm_get_errhandler(from, &handler);
  real.Comm_set_errhandler(to, handler);
  MPI_Errhandler_free(&handler);
}

int keep_handler(Derived& derived, MPI_Errhandler handler) {
  // A communicator of this process alone keeps it: handlers are counted by the communicators that have them. A duplicate would have
  // the attributes of MPI_COMM_SELF.
  if (derived.handler_keeper == MPI_COMM_NULL) {
    const int error = real.Comm_split(MPI_COMM_SELF, 0, 0, &derived.handler_keeper);
    if (error != MPI_SUCCESS) return error;
    registry().publish();
  }
  return real.Comm_set_errhandler(derived.handler_keeper, handler);
}

void inherit_handler(const Derived& parent, Derived& child) {
  if (parent.handler_keeper == MPI_COMM_NULL) return;
  MPI_Errhandler handler = handler_of(parent.handler_keeper);
  keep_handler(child, handler);
  MPI_Errhandler_free(&handler);
}

bool call_kept_handler(MPI_Comm working, int mpi_error) {
  const MPI_Comm keeper = find_keeper(working, /*by_name=*/false);
  if (keeper == MPI_COMM_NULL) return false;
  real.Comm_call_errhandler(keeper, mpi_error);
  return true;
}

int refuse_call(MPI_Comm comm, int mpi_error, const char* why) {
  const MPI_Comm handles = comm != MPI_COMM_NULL ? comm : MPI_COMM_SELF;
  const InterposerServices* services = registry().services;
  if (services == nullptr) {
    // Fenix has not begun. Its library may be in this process all the same.
    const auto record = reinterpret_cast<int (*)(int, const char*)>(dlsym(RTLD_DEFAULT, "fenix_detail_refuse"));
    if (record != nullptr) (void)record(0, why);
    PMPI_Comm_call_errhandler(handles, mpi_error);
    return mpi_error;
  }
  services->note_refusal(why);
  // No death is behind it, and nobody has to look for one.
  services->announce_error(mpi_error);
  PMPI_Comm_call_errhandler(handles, mpi_error);
  services->announce_error(MPI_SUCCESS);
  return mpi_error;
}

}  // namespace fenix_impl

using namespace fenix_impl;

extern "C" {

int PMPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  Derived* found = all.find(comm);
  // MPI is to say what is wrong.
  const bool is_kept = found != nullptr && errhandler != MPI_ERRHANDLER_NULL;
  // MPI raises errors on it that belong to no communicator.
  if (is_kept && comm == MPI_COMM_WORLD && is_transparent.load(std::memory_order_acquire)) {
    const int error = real.Comm_set_errhandler(comm, errhandler);
    if (error != MPI_SUCCESS) return error;
  }
  return is_kept ? keep_handler(*found, errhandler) : real.Comm_set_errhandler(now(comm), errhandler);
}

int PMPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler* errhandler) {
  if (is_transparent.load(std::memory_order_acquire)) keep_first_handler(comm);
  const MPI_Comm keeper = find_keeper(comm, /*by_name=*/true);
  return real.Comm_get_errhandler(keeper != MPI_COMM_NULL ? keeper : now(comm), errhandler);
}

int PMPI_Comm_call_errhandler(MPI_Comm comm, int errorcode) {
  const MPI_Comm keeper = find_keeper(comm, /*by_name=*/true);
  return real.Comm_call_errhandler(keeper != MPI_COMM_NULL ? keeper : now(comm), errorcode);
}

decltype(PMPI_Comm_set_errhandler) MPI_Comm_set_errhandler __attribute__((weak, alias("PMPI_Comm_set_errhandler")));
decltype(PMPI_Comm_get_errhandler) MPI_Comm_get_errhandler __attribute__((weak, alias("PMPI_Comm_get_errhandler")));
decltype(PMPI_Comm_call_errhandler) MPI_Comm_call_errhandler __attribute__((weak, alias("PMPI_Comm_call_errhandler")));
}
