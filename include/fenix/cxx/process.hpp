// SPDX-License-Identifier: BSD-3-Clause
//
// C++: process recovery. Where a comment names a C function, the contract of <fenix/process.h> holds.
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

/// Exception in resume mode "throw". The MPI or Fenix call that met a failure throws it, after the repair.
struct CommException : std::exception {
  MPI_Comm repaired_comm;  ///< the repaired resilient communicator
  const int fenix_err;     ///< the MPI error code that led to the repair

  /// Makes the exception; called by the library.
  /// @param comm the repaired resilient communicator
  /// @param error the MPI error code
  CommException(MPI_Comm comm, int error) : repaired_comm(comm), fenix_err(error) {}
  /// Describes the exception.
  /// @return a constant text
  const char* what() const noexcept override { return "fenix: the communicator was repaired after a failure"; }
};

/// Exception for a code of Fenix_Return_codes, with the text of Fenix_Error_message (new). Functions throw it where
/// their descriptions say so, for example check(), init() and the constructor of data::Group. The others return their
/// codes.
struct Error : std::runtime_error {
  int code;  ///< a FENIX_ERROR_…, which is negative

  /// Makes the exception.
  /// @param error_code a FENIX_ERROR_…
  /// @param text text that what() returns
  Error(int error_code, const std::string& text) : std::runtime_error(text), code(error_code) {}
};

/// Throws Error if code is an error (new). Use it directly around the call that returns the code, because the text of
/// the exception is that of the latest error on this thread.
/// @param code a code of Fenix_Return_codes
/// @return code, which is FENIX_SUCCESS or a warning
inline int check(int code) {
  if (code < FENIX_SUCCESS) throw Error(code, Fenix_Error_message());
  return code;
}

// -------------------------------------------------------------------------------------------------------- start, state

namespace args {
/// Arguments of init: the arguments of Fenix_Init, with default values. Pointers may be null. spawn and info are new.
struct FenixInitArgs {
  int* role = nullptr;                ///< role of this rank, written by init and after each repair
  MPI_Comm in_comm = MPI_COMM_WORLD;  ///< communicator to build upon, spare ranks included
  /// The resilient communicator, written by init and after each repair. Null: with libfenix_mpi, in_comm is it.
  MPI_Comm* out_comm = nullptr;
  int* argc = nullptr;            ///< as given to main
  char*** argv = nullptr;         ///< as given to main
  int spares = 0;                 ///< ranks held in reserve
  int* err = nullptr;             ///< the error of Fenix_Init, written by init and after each repair
  int spawn = 0;                  ///< not 0: missing ranks are spawned
  MPI_Info info = MPI_INFO_NULL;  ///< keys for settings and for MPI_Comm_spawn
};
}  // namespace args

/// Does the work of Fenix_Init, as a function. A jump back into a function is impossible: resume mode "jump" becomes
/// "throw". Recovered ranks return from init; they call throw_exception() to join the survivors in their handler.
/// Throws Error if it fails and err is null.
/// @param args arguments. The library writes to role, out_comm and err again after each repair. These variables have to
///             live until Fenix_Finalize.
void init(const args::FenixInitArgs& args);

/// Calls Fenix_set_option. Throws std::invalid_argument for an invalid setting or option.
/// @param setting, option as in C
void set_option(SettingName setting, unsigned option);
/// Calls Fenix_get_option. Throws std::invalid_argument for an invalid setting.
/// @param setting as in C
/// @return the option
unsigned get_option(SettingName setting);

/// Throws the CommException of the latest repair. Returns if there was no repair. Local.
void throw_exception();

/// Calls Fenix_get_role.
/// @return the role of this rank
Role role();
/// Calls Fenix_get_error.
/// @return the error of Fenix_Init, as written after the latest repair
int error();
/// Calls Fenix_get_nspare.
/// @return the number of spare ranks that are waiting, or a negative error
int nspare();
/// Calls Fenix_Initialized.
/// @return true if Fenix_Init has been called with success
bool initialized();
/// Calls Fenix_Finalized.
/// @return true if Fenix_Finalize has completed
bool finalized();

/// Calls Fenix_get_number_of_ranks_with_role.
/// @param role a role
/// @return the number of ranks, or a negative error
int n_ranks_with_role(Role role);
/// Calls Fenix_get_rank_role. Throws Error for an invalid communicator or rank.
/// @param comm, rank as in C
/// @return the role of that rank
Role rank_role(MPI_Comm comm, int rank);

/// Callback: called with the resilient communicator and the MPI error code that led to the repair.
using FenixCallbackFunc = std::function<void(MPI_Comm, int)>;

/// Calls Fenix_Callback_register for any callable. FENIX_CALLBACK_EXCEPTION_MODE says what happens to its exceptions.
/// @param callback callable; owned by the library, which destroys it when it is removed, or at Fenix_Finalize
/// @return the code of the C function
int callback_register(FenixCallbackFunc callback);
/// Calls Fenix_Callback_pop.
/// @return the code of the C function
int callback_pop();
/// Calls Fenix_Callback_invoke_all.
/// @return the code of the C function
int callback_invoke_all();

/// Lists the failed ranks, as Fenix_Process_fail_list.
/// @return a copy of the list
std::vector<int> fail_list();
/// Calls Fenix_Process_detect_failures.
/// @param recover whether a failure is repaired
/// @return MPI_SUCCESS or an MPI error code, as in C
int detect_failures(bool recover = true);
/// Calls MPIX_Comm_revoke: calls on comm end on all its ranks.
/// @param comm any communicator
/// @return an MPI error code
int comm_revoke(MPI_Comm comm);
/// Gets the text of the last error, as Fenix_Error_message (new).
/// @return a copy of the text
std::string error_message();

}  // namespace fenix

#endif
