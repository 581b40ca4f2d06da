// SPDX-License-Identifier: BSD-3-Clause
//
// C++: process recovery. Where a declaration names a C function, the contract is that of <fenix/process.h>.
#ifndef FENIX_CXX_PROCESS_HPP
#define FENIX_CXX_PROCESS_HPP

#include <fenix.h>

#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace fenix {

// ------------------------------------------------------------------------------------------------- names of constants

using Role = Fenix_Rank_role;
inline constexpr Role INITIAL_RANK = FENIX_ROLE_INITIAL_RANK;
inline constexpr Role RECOVERED_RANK = FENIX_ROLE_RECOVERED_RANK;
inline constexpr Role SURVIVOR_RANK = FENIX_ROLE_SURVIVOR_RANK;
inline constexpr Role SPARE_RANK = FENIX_ROLE_SPARE_RANK;

using SettingName = Fenix_Setting_name;
inline constexpr SettingName RECOVERY_MODE = FENIX_RECOVERY_MODE;
inline constexpr SettingName RESUME_MODE = FENIX_RESUME_MODE;
inline constexpr SettingName UNHANDLED_MODE = FENIX_UNHANDLED_MODE;
inline constexpr SettingName CALLBACK_EXCEPTION_MODE = FENIX_CALLBACK_EXCEPTION_MODE;
inline constexpr SettingName SPARE_WAIT_MODE = FENIX_SPARE_WAIT_MODE;
inline constexpr SettingName SPARE_FINALIZE_MODE = FENIX_SPARE_FINALIZE_MODE;

using RecoveryMode = Fenix_Recovery_mode;
inline constexpr RecoveryMode IGNORE = FENIX_RECOVERY_IGNORE;
inline constexpr RecoveryMode NOOP = FENIX_RECOVERY_NOOP;
inline constexpr RecoveryMode REPAIR = FENIX_RECOVERY_REPAIR;
inline constexpr RecoveryMode SPAWN = FENIX_RECOVERY_SPAWN;

using ResumeMode = Fenix_Resume_mode;
inline constexpr ResumeMode JUMP = FENIX_RESUME_JUMP;
inline constexpr ResumeMode RETURN = FENIX_RESUME_RETURN;
inline constexpr ResumeMode THROW = FENIX_RESUME_THROW;

using UnhandledMode = Fenix_Unhandled_mode;
inline constexpr UnhandledMode SILENT = FENIX_UNHANDLED_SILENT;
inline constexpr UnhandledMode PRINT = FENIX_UNHANDLED_PRINT;
inline constexpr UnhandledMode ABORT = FENIX_UNHANDLED_ABORT;

using CallbackExceptionMode = Fenix_Callback_exception_mode;
inline constexpr CallbackExceptionMode RETHROW = FENIX_CALLBACK_EXCEPTION_RETHROW;
inline constexpr CallbackExceptionMode SQUASH = FENIX_CALLBACK_EXCEPTION_SQUASH;

using SpareWaitMode = Fenix_Spare_wait_mode;
inline constexpr SpareWaitMode BUSY = FENIX_SPARE_WAIT_BUSY;
inline constexpr SpareWaitMode YIELD = FENIX_SPARE_WAIT_YIELD;
inline constexpr SpareWaitMode SLEEP = FENIX_SPARE_WAIT_SLEEP;

using SpareFinalizeMode = Fenix_Spare_finalize_mode;
inline constexpr SpareFinalizeMode RELEASE = FENIX_SPARE_FINALIZE_RELEASE;
inline constexpr SpareFinalizeMode EXIT = FENIX_SPARE_FINALIZE_EXIT;

// --------------------------------------------------------------------------------------------------------- exceptions

/// Thrown in resume mode "throw" out of the MPI or Fenix call that met a failure, after the repair.
struct CommException : std::exception {
  MPI_Comm repaired_comm;  ///< the repaired resilient communicator
  const int fenix_err;     ///< the MPI error code that led to the repair

  CommException(MPI_Comm comm, int error) : repaired_comm(comm), fenix_err(error) {}
  const char* what() const noexcept override { return "fenix: the communicator was repaired after a failure"; }
};

/// A code of Fenix_Return_codes as an exception, with the text of Fenix_Error_message (new). Thrown by check(), by init(),
/// and by the classes of <fenix/cxx/group.hpp>; the functions return their codes.
struct Error : std::runtime_error {
  int code;  ///< negative: a FENIX_ERROR_…

  Error(int error_code, const std::string& text) : std::runtime_error(text), code(error_code) {}
};

/// Returns code if it is FENIX_SUCCESS or a warning; throws Error if it is an error (new). To be put around the call that
/// returned it: the text is that of the latest error on this thread.
inline int check(int code) {
  if (code < FENIX_SUCCESS) throw Error(code, Fenix_Error_message());
  return code;
}

// -------------------------------------------------------------------------------------------------------- start, state

namespace args {
/// Arguments of init, as those of Fenix_Init. Pointers may be null. spawn and info are new.
struct FenixInitArgs {
  int* role = nullptr;
  MPI_Comm in_comm = MPI_COMM_WORLD;
  MPI_Comm* out_comm = nullptr;
  int* argc = nullptr;
  char*** argv = nullptr;
  int spares = 0;
  int* err = nullptr;
  int spawn = 0;
  MPI_Info info = MPI_INFO_NULL;
};
}  // namespace args

/// Fenix_Init as a function. A jump back into it is impossible: resume mode "jump" becomes "throw". Recovered ranks return
/// from it; they call throw_exception() where they want to join the survivors in their handler. What is pointed to is
/// written again after each repair, and has to live until Fenix_Finalize. Throws Error if it fails and err is null.
void init(const args::FenixInitArgs& args);

/// Fenix_set_option. Throws std::invalid_argument for a bad setting or option.
void set_option(SettingName setting, unsigned option);
/// Fenix_get_option. Throws std::invalid_argument for a bad setting.
unsigned get_option(SettingName setting);

/// Throws the CommException of the latest repair; returns if there was none. Local.
void throw_exception();

Role role();         ///< Fenix_get_role
int error();         ///< Fenix_get_error
int nspare();        ///< Fenix_get_nspare
bool initialized();  ///< Fenix_Initialized
bool finalized();    ///< Fenix_Finalized

/// Fenix_get_number_of_ranks_with_role: the number, or a negative error.
int n_ranks_with_role(Role role);
/// Fenix_get_rank_role. Throws Error for a bad communicator or rank.
Role rank_role(MPI_Comm comm, int rank);

using FenixCallbackFunc = std::function<void(MPI_Comm, int)>;

/// Fenix_Callback_register for any callable. It is destroyed when it is popped or at Fenix_Finalize. What it may throw:
/// FENIX_CALLBACK_EXCEPTION_MODE.
int callback_register(FenixCallbackFunc callback);
/// Fenix_Callback_pop
int callback_pop();
/// Fenix_Callback_invoke_all
int callback_invoke_all();

/// Fenix_Process_fail_list, as a copy
std::vector<int> fail_list();
/// Fenix_Process_detect_failures
int detect_failures(bool recover = true);
/// MPIX_Comm_revoke: calls on comm end on all its ranks. Returns an MPI error code.
int comm_revoke(MPI_Comm comm);
/// Fenix_Error_message, as a copy (new)
std::string error_message();

}  // namespace fenix

#endif
