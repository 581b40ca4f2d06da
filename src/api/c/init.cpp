// SPDX-License-Identifier: BSD-3-Clause
// Start and end of the use of Fenix.
#include <fenix.h>

#include "api/cxx/cxx_exception.hpp"
#include "interposition/interposer.hpp"
#include "runtime/entry.hpp"
#include "services/persistent_messages.hpp"

using namespace fenix_impl;

extern "C" {

int fenix_detail_preinit(int* role, MPI_Comm comm, MPI_Comm* newcomm, int* /*argc*/, char*** /*argv*/, int spare_ranks,
                         int spawn, MPI_Info info, int* error, jmp_buf* resume_point) {
  const int code = entry([&]() -> int {
    check_interposer_version();
    runtime().continuation().set_exception(comm_exception());
    runtime().persist_services = persist_services();
    // With libfenix_mpi, comm may stand for the communicator of an earlier use of Fenix.
    runtime().lifecycle().start({present(comm), spare_ranks, spawn, info, {role, newcomm, error}, resume_point});
    runtime().lifecycle().drain();
    runtime().lifecycle().serve_as_spare();
    return FENIX_SUCCESS;
  });
  if (code == FENIX_SUCCESS) return code;
  // A second call must not overwrite the communicator of the first.
  if (newcomm != nullptr && !runtime().use().ready()) *newcomm = MPI_COMM_NULL;
  if (error != nullptr) *error = code;
  return code;
}

int Fenix_Init_no_jump(int* role, MPI_Comm comm, MPI_Comm* newcomm, int* argc, char*** argv, int spare_ranks, int spawn,
                       MPI_Info info, int* error) {
  const int code = fenix_detail_preinit(role, comm, newcomm, argc, argv, spare_ranks, spawn, info, error, nullptr);
  if (code != FENIX_SUCCESS) return code;
  fenix_detail_postinit();
  // A spare that was released is not ready.
  return runtime().use().ready() ? runtime().process().repair().outcome() : FENIX_SUCCESS;
}

void fenix_detail_return_unhandled(void) {
  if (!runtime().use().ready()) runtime().settings.set_default(FENIX_UNHANDLED_MODE, FENIX_UNHANDLED_SILENT);
}

void fenix_detail_postinit(void) {
  if (runtime().use().ready()) runtime().outputs().write();
}

int Fenix_Initialized(int* flag) {
  return entry([&]() -> int {
    require(flag, "flag");
    *flag = runtime().use().initialized() ? 1 : 0;
    return FENIX_SUCCESS;
  });
}

int Fenix_Finalized(int* flag) {
  return entry([&]() -> int {
    require(flag, "flag");
    *flag = runtime().use().finalized() ? 1 : 0;
    return FENIX_SUCCESS;
  });
}

int Fenix_Finalize(void) {
  bool finished = false;
  const int code = ready_entry([&]() -> int {
    CallGate::require_no_repair("Fenix_Finalize");
    finished = runtime().lifecycle().finish();
    return FENIX_SUCCESS;
  });
  if (code != FENIX_SUCCESS || finished) return code;
  runtime().continuation().resume(runtime().failures().latest());
  return report(FENIX_ERROR_CANCELLED, "a rank has died");
}

int Fenix_set_option(Fenix_Setting_name setting, unsigned option) {
  return entry([&]() -> int {
    runtime().set_option(setting, option);
    return FENIX_SUCCESS;
  });
}

int Fenix_get_option(Fenix_Setting_name setting, unsigned* option) {
  return entry([&]() -> int {
    require(option, "option");
    *option = runtime().settings.get(setting);
    return FENIX_SUCCESS;
  });
}

int Fenix_Failure(int* flag) {
  return ready_entry([&]() -> int {
    require(flag, "flag");
    *flag = runtime().persistence().comms().has_failed() ? 1 : 0;
    return FENIX_SUCCESS;
  });
}

const char* Fenix_Error_message(void) { return last_error().text.c_str(); }

}  // extern "C"
