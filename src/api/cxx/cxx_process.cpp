// SPDX-License-Identifier: BSD-3-Clause
// The C++ interface to process recovery, implemented by calls of the C interface.
#include <fenix.hpp>
#include <mpi-ext.h>

#include <utility>

#include "api/cxx/cxx_exception.hpp"
#include "api/cxx/cxx_throw.hpp"
#include "interposition/interposer.hpp"
#include "runtime/entry.hpp"

using namespace fenix_impl;

FailureException fenix_impl::comm_exception() {
  return {[](MPI_Comm repaired, int error, int mpi_error) { throw fenix::CommException(repaired, error, mpi_error); },
          [] {
            try {
              throw;
            } catch (const fenix::CommException&) {
              return true;
            } catch (...) {
              return false;
            }
          }};
}

namespace fenix {
namespace {

/// Sets a setting that init was given.
void take(SettingName setting, unsigned option, unsigned not_given) {
  if (option != not_given) set_option(setting, option);
}

/// Starts, with settings that hold until Fenix_Finalize.
int start(const args::FenixInitArgs& args) {
  // Used if the caller gives no address. Static, because they are written again after each repair.
  static int role = INITIAL_RANK;
  static MPI_Comm comm = MPI_COMM_NULL;
  if (get_option(RESUME_MODE) == JUMP) set_option(RESUME_MODE, THROW);
  take(RESUME_MODE, args.resume_mode, FENIX_RESUME_MODE_MAXCODE);
  take(UNHANDLED_MODE, args.unhandled_mode, FENIX_UNHANDLED_MODE_MAXCODE);
  take(CALLBACK_EXCEPTION_MODE, args.callback_exception_mode, FENIX_CALLBACK_EXCEPTION_MODE_MAXCODE);
  // With libfenix_mpi, in_comm itself is the resilient communicator if the caller gives no address for another one.
  MPI_Comm* own = interposer() != nullptr ? nullptr : &comm;
  return Fenix_Init_no_jump(args.role != nullptr ? args.role : &role, args.in_comm,
                            args.out_comm != nullptr ? args.out_comm : own, args.argc, args.argv, args.spares,
                            args.spawn, args.info, args.err);
}

}  // namespace

void init(const args::FenixInitArgs& args) {
  const bool in_use = runtime().use().ready();
  const Settings before = runtime().settings;
  const int code = start(args);
  if (!in_use && runtime().use().ready()) {
    runtime().lifecycle().restore_at_end(before);
    return;
  }
  runtime().settings = before;
  if (args.err == nullptr) (void)thrown(code);
}

void set_option(SettingName setting, unsigned option) { (void)thrown(Fenix_set_option(setting, option)); }

unsigned get_option(SettingName setting) {
  unsigned option = 0;
  (void)thrown(Fenix_get_option(setting, &option));
  return option;
}

void throw_exception() {
  Runtime& rt = runtime();
  if (rt.process().repair().count() > 0) {
    throw CommException(rt.process().comms().name(), rt.process().repair().outcome(), rt.failures().latest());
  }
}

Role role() { return Fenix_get_role(); }
int error() { return Fenix_get_error(); }
int nspare() { return thrown(Fenix_get_nspare()); }
bool initialized() { return runtime().use().initialized(); }
bool finalized() { return runtime().use().finalized(); }

int n_ranks_with_role(Role role) {
  int number = 0;
  (void)thrown(Fenix_get_number_of_ranks_with_role(role, &number));
  return number;
}

Role rank_role(MPI_Comm comm, int rank) {
  int role = INITIAL_RANK;
  (void)thrown(Fenix_get_rank_role(comm, rank, &role));
  return static_cast<Role>(role);
}

int slot() { return thrown(Fenix_get_slot()); }

int rank_to_slot(MPI_Comm comm, int rank) {
  int slot = 0;
  (void)thrown(Fenix_rank_to_slot(comm, rank, &slot));
  return slot;
}

int slot_to_rank(MPI_Comm comm, int slot) {
  int rank = 0;
  (void)thrown(Fenix_slot_to_rank(comm, slot, &rank));
  return rank;
}

MPI_Group repair_group(MPI_Group old_group) {
  MPI_Group group = MPI_GROUP_NULL;
  (void)thrown(Fenix_repair_group(old_group, &group));
  return group;
}

int callback_register(FenixCallbackFunc callback, CallbackLocation location) {
  return thrown(Fenix_Callback_register(std::move(callback), location));
}

int callback_pop(CallbackLocation location) {
  const int code = Fenix_Callback_pop_at(location);
  return code == FENIX_ERROR_CALLBACK_NOT_REGISTERED ? code : thrown(code);
}

int callback_invoke_all(CallbackLocation location) { return thrown(Fenix_Callback_invoke_all_at(location)); }

int register_exception_callback() {
  return callback_register([](MPI_Comm, int) { throw_exception(); });
}

std::vector<int> fail_list() { return runtime().process().members().failed(); }

int detect_failures(bool recover) { return Fenix_Process_detect_failures(recover ? 1 : 0); }

int comm_revoke(MPI_Comm comm) { return MPIX_Comm_revoke(present(comm)); }

std::string error_message() { return Fenix_Error_message(); }

}  // namespace fenix

int Fenix_Callback_register(fenix::FenixCallbackFunc callback, int location) {
  return ready_entry([&]() -> int {
    if (!callback) throw Error(FENIX_ERROR_CALLBACK_NOT_REGISTERED, "callback is empty");
    if (location != FENIX_CALLBACK_PRE_RECOVERY && location != FENIX_CALLBACK_POST_RECOVERY) {
      throw Error(FENIX_ERROR_INVALID_ARGUMENT, "location does not exist");
    }
    runtime().callbacks().push(static_cast<Fenix_Callback_location>(location), std::move(callback));
    return FENIX_SUCCESS;
  });
}
