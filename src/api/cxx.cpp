// SPDX-License-Identifier: BSD-3-Clause
// The C++ interface, in terms of the C one.
#include <fenix.hpp>

#include <stdexcept>
#include <utility>

#include "api/entry.hpp"

using namespace fenix_impl;

namespace fenix {

void init(const args::FenixInitArgs& args) {
  // Written after each repair: they have to outlive this call where the caller gives no place.
  static int role = INITIAL_RANK;
  static MPI_Comm comm = MPI_COMM_NULL;
  const unsigned mode = get_option(FENIX_RESUME_MODE);
  if (mode == FENIX_RESUME_JUMP) set_option(FENIX_RESUME_MODE, FENIX_RESUME_THROW);
  const int code = fenix_detail_preinit(args.role != nullptr ? args.role : &role, args.in_comm,
                                        args.out_comm != nullptr ? args.out_comm : &comm, args.argc, args.argv,
                                        args.spares, 0, MPI_INFO_NULL, args.err, nullptr);
  if (code == FENIX_SUCCESS) {
    fenix_detail_postinit();
    return;
  }
  set_option(FENIX_RESUME_MODE, mode);
  if (args.err == nullptr) throw std::runtime_error(error_message());
}

void set_option(Fenix_Setting_name setting, unsigned option) {
  if (Fenix_set_option(setting, option) != FENIX_SUCCESS) throw std::invalid_argument(error_message());
}

unsigned get_option(Fenix_Setting_name setting) {
  unsigned option = 0;
  if (Fenix_get_option(setting, &option) != FENIX_SUCCESS) throw std::invalid_argument(error_message());
  return option;
}

void throw_exception() {
  const Runtime& rt = runtime();
  if (rt.process().repairs() > 0) throw CommException(rt.process().resilient(), rt.latest_failure());
}

Role role() { return Fenix_get_role(); }
int error() { return Fenix_get_error(); }
int nspare() { return Fenix_get_nspare(); }
bool initialized() { return runtime().initialized(); }
bool finalized() { return runtime().finalized(); }

int callback_register(std::function<void(MPI_Comm, int)> callback) {
  return ready_entry([&]() -> int {
    if (!callback) throw Error(FENIX_ERROR_CALLBACK_NOT_REGISTERED, "callback is empty");
    runtime().callbacks.push(std::move(callback));
    return FENIX_SUCCESS;
  });
}

int callback_pop() { return Fenix_Callback_pop(); }

std::vector<int> fail_list() { return runtime().process().failed(); }

int detect_failures(bool recover) { return Fenix_Process_detect_failures(recover ? 1 : 0); }

std::string error_message() { return Fenix_Error_message(); }

}  // namespace fenix
