// SPDX-License-Identifier: BSD-3-Clause
// The C++ interface to process recovery, implemented by calls of the C interface.
#include <fenix.hpp>
#include <mpi-ext.h>

#include <stdexcept>
#include <utility>

#include "api/cxx_exception.hpp"
#include "api/entry.hpp"
#include "recovery/interposer.hpp"

using namespace fenix_impl;

FailureException fenix_impl::comm_exception() {
  return {[](MPI_Comm repaired, int mpi_error) { throw fenix::CommException(repaired, mpi_error); },
          [](const std::function<void()>& work) {
            try {
              work();
            } catch (const fenix::CommException&) {
              return;
            }
          }};
}

namespace fenix {

void init(const args::FenixInitArgs& args) {
  // Used if the caller gives no address. Static, because they are written again after each repair.
  static int role = INITIAL_RANK;
  static MPI_Comm comm = MPI_COMM_NULL;
  const unsigned mode = get_option(FENIX_RESUME_MODE);
  if (mode == FENIX_RESUME_JUMP) set_option(FENIX_RESUME_MODE, FENIX_RESUME_THROW);
  // With libfenix_mpi, in_comm itself is the resilient communicator if the caller gives no address for another one.
  MPI_Comm* own = interposer() != nullptr ? nullptr : &comm;
  const int code = fenix_detail_preinit(args.role != nullptr ? args.role : &role, args.in_comm,
                                        args.out_comm != nullptr ? args.out_comm : own, args.argc, args.argv,
                                        args.spares, args.spawn, args.info, args.err, nullptr);
  if (code == FENIX_SUCCESS) {
    fenix_detail_postinit();
    return;
  }
  set_option(FENIX_RESUME_MODE, mode);
  if (args.err == nullptr) throw fenix::Error(code, error_message());
}

void set_option(SettingName setting, unsigned option) {
  if (Fenix_set_option(setting, option) != FENIX_SUCCESS) throw std::invalid_argument(error_message());
}

unsigned get_option(SettingName setting) {
  unsigned option = 0;
  if (Fenix_get_option(setting, &option) != FENIX_SUCCESS) throw std::invalid_argument(error_message());
  return option;
}

void throw_exception() {
  const Runtime& rt = runtime();
  if (rt.process().repairs() > 0) throw CommException(rt.process().name(), rt.latest_failure());
}

Role role() { return Fenix_get_role(); }
int error() { return Fenix_get_error(); }
int nspare() { return Fenix_get_nspare(); }
bool initialized() { return runtime().initialized(); }
bool finalized() { return runtime().finalized(); }

int n_ranks_with_role(Role role) {
  int number = 0;
  const int code = Fenix_get_number_of_ranks_with_role(role, &number);
  return code == FENIX_SUCCESS ? number : code;
}

Role rank_role(MPI_Comm comm, int rank) {
  int role = INITIAL_RANK;
  check(Fenix_get_rank_role(comm, rank, &role));
  return static_cast<Role>(role);
}

int callback_register(FenixCallbackFunc callback) {
  return ready_entry([&]() -> int {
    if (!callback) throw fenix_impl::Error(FENIX_ERROR_CALLBACK_NOT_REGISTERED, "callback is empty");
    runtime().callbacks.push(std::move(callback));
    return FENIX_SUCCESS;
  });
}

int callback_pop() { return Fenix_Callback_pop(); }
int callback_invoke_all() { return Fenix_Callback_invoke_all(); }

std::vector<int> fail_list() { return runtime().process().failed(); }

int detect_failures(bool recover) { return Fenix_Process_detect_failures(recover ? 1 : 0); }

int comm_revoke(MPI_Comm comm) { return MPIX_Comm_revoke(present(comm)); }

std::string error_message() { return Fenix_Error_message(); }

}  // namespace fenix
