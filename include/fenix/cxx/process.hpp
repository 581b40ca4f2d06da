// SPDX-License-Identifier: BSD-3-Clause
//
// C++: process recovery. Where a comment names a C function, the contract of <fenix/process.h> holds.
#ifndef FENIX_CXX_PROCESS_HPP
#define FENIX_CXX_PROCESS_HPP

#include "../c.h"

#include <functional>
#include <string>
#include <vector>

#include "exception.hpp"

namespace fenix {

// ------------------------------------------------------------------------------------------------- names of constants

using Role = Fenix_Rank_role;
inline constexpr Role INITIAL_RANK = FENIX_ROLE_INITIAL_RANK;
inline constexpr Role RECOVERED_RANK = FENIX_ROLE_RECOVERED_RANK;
inline constexpr Role SURVIVOR_RANK = FENIX_ROLE_SURVIVOR_RANK;
inline constexpr Role SPARE_RANK = FENIX_ROLE_SPARE_RANK;
inline constexpr Role MISSING_RANK = FENIX_ROLE_MISSING_RANK;

using SettingName = Fenix_Setting_name;
inline constexpr SettingName RECOVERY_MODE = FENIX_RECOVERY_MODE;
inline constexpr SettingName RESUME_MODE = FENIX_RESUME_MODE;
inline constexpr SettingName UNHANDLED_MODE = FENIX_UNHANDLED_MODE;
inline constexpr SettingName CALLBACK_EXCEPTION_MODE = FENIX_CALLBACK_EXCEPTION_MODE;
inline constexpr SettingName MLOG_RECOVERY_MODE = FENIX_MLOG_RECOVERY_MODE;
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

using MlogRecoveryMode = Fenix_Mlog_recovery_mode;
inline constexpr MlogRecoveryMode MANUAL = FENIX_MLOG_RECOVERY_MANUAL;
inline constexpr MlogRecoveryMode INLINE = FENIX_MLOG_RECOVERY_INLINE;
inline constexpr MlogRecoveryMode INLINE_AUTOSYNC = FENIX_MLOG_RECOVERY_INLINE_AUTOSYNC;

using SpareWaitMode = Fenix_Spare_wait_mode;
inline constexpr SpareWaitMode BUSY = FENIX_SPARE_WAIT_BUSY;
inline constexpr SpareWaitMode YIELD = FENIX_SPARE_WAIT_YIELD;
inline constexpr SpareWaitMode SLEEP = FENIX_SPARE_WAIT_SLEEP;

using SpareFinalizeMode = Fenix_Spare_finalize_mode;
inline constexpr SpareFinalizeMode RELEASE = FENIX_SPARE_FINALIZE_RELEASE;
inline constexpr SpareFinalizeMode EXIT = FENIX_SPARE_FINALIZE_EXIT;

using CallbackLocation = Fenix_Callback_location;
inline constexpr CallbackLocation PRE_RECOVERY = FENIX_CALLBACK_PRE_RECOVERY;
inline constexpr CallbackLocation POST_RECOVERY = FENIX_CALLBACK_POST_RECOVERY;

// ------------------------------------------------------------------------------------------------------------- errors

/// Throws RuntimeException if code is an error (new). Use it directly around a call of the C interface, because the text
/// of the exception is that of the latest error on this thread.
/// @param code a code of Fenix_Return_codes
/// @param place the compiler fills in the place of the caller
/// @return code, which is FENIX_SUCCESS or a warning
template <class = void>  // A function check(int) of a program that uses the whole namespace is preferred to a template.
int check(int code, SourceLocation place = SourceLocation::current()) {
  if (code < FENIX_SUCCESS) throw RuntimeException(code, Fenix_Error_message(), place);
  return code;
}

// -------------------------------------------------------------------------------------------------------- start, state

namespace args {
/// Arguments of init: the arguments of Fenix_Init and settings, with default values. Pointers may be null. A setting that
/// is a …_MAXCODE stays as it is. The fields after err are new; Args::FenixInitArgs has those of July 2025.
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
  ResumeMode resume_mode = FENIX_RESUME_MODE_MAXCODE;           ///< FENIX_RESUME_MODE
  UnhandledMode unhandled_mode = FENIX_UNHANDLED_MODE_MAXCODE;  ///< FENIX_UNHANDLED_MODE
  CallbackExceptionMode callback_exception_mode =
      FENIX_CALLBACK_EXCEPTION_MODE_MAXCODE;  ///< FENIX_CALLBACK_EXCEPTION_MODE
};
}  // namespace args

/// Does the work of Fenix_Init, as a function. A jump back into a function is impossible: resume mode "jump" becomes
/// "throw", until Fenix_Finalize. Recovered ranks return from init; they call throw_exception() to join the survivors in
/// their handler. Throws RuntimeException if it fails and err is null.
/// @param args arguments. The library writes to role, out_comm and err again after each repair. These variables have to
///             live until Fenix_Finalize.
void init(const args::FenixInitArgs& args);

/// Calls Fenix_set_option.
/// @param setting, option as in C
void set_option(SettingName setting, unsigned option);
/// Calls Fenix_get_option.
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
/// @return the number of spare ranks that are waiting
int nspare();
/// Calls Fenix_Initialized.
/// @return true if Fenix_Init has been called with success
bool initialized();
/// Calls Fenix_Finalized.
/// @return true if Fenix_Finalize has completed
bool finalized();

/// Calls Fenix_get_number_of_ranks_with_role.
/// @param role a role
/// @return the number of ranks
int n_ranks_with_role(Role role);
/// Calls Fenix_get_rank_role.
/// @param comm, rank as in C
/// @return the role of that rank
Role rank_role(MPI_Comm comm, int rank);

/// Calls Fenix_get_slot.
/// @return the slot of this rank
int slot();
/// Calls Fenix_rank_to_slot.
/// @param comm, rank as in C
/// @return the slot of that rank
int rank_to_slot(MPI_Comm comm, int rank);
/// Calls Fenix_slot_to_rank.
/// @param comm, slot as in C
/// @return the rank in comm, or MPI_UNDEFINED
int slot_to_rank(MPI_Comm comm, int slot);
/// Calls Fenix_repair_group.
/// @param old_group as in C
/// @return the new group, owned by the caller
MPI_Group repair_group(MPI_Group old_group);

/// Callback: called with the resilient communicator and the MPI error code that led to the repair.
using FenixCallbackFunc = std::function<void(MPI_Comm, int)>;

/// Calls Fenix_Callback_register_at for any callable. FENIX_CALLBACK_EXCEPTION_MODE says what happens to its exceptions.
/// @param callback callable; owned by the library, which destroys it when it is removed, or at Fenix_Finalize
/// @param location before or after the repair
/// @return FENIX_SUCCESS
int callback_register(FenixCallbackFunc callback, CallbackLocation location = POST_RECOVERY);
/// Calls Fenix_Callback_pop_at.
/// @param location as in C
/// @return FENIX_SUCCESS; FENIX_ERROR_CALLBACK_NOT_REGISTERED, which is no exception, as in the current Fenix
int callback_pop(CallbackLocation location = POST_RECOVERY);
/// Calls Fenix_Callback_invoke_all_at.
/// @param location as in C
/// @return FENIX_SUCCESS
int callback_invoke_all(CallbackLocation location = POST_RECOVERY);
/// Registers a callback that throws CommException after each repair, for resume modes other than "throw".
/// @return FENIX_SUCCESS
int register_exception_callback();

/// Lists the failed ranks, as Fenix_Process_fail_list.
/// @return a copy of the list
std::vector<int> fail_list();
/// Calls Fenix_Process_detect_failures.
/// @param recover whether a failure is repaired
/// @return FENIX_SUCCESS or FENIX_ERROR_PROCESS_FAILURE, as in C: FENIX_SUCCESS also where a call has gone on
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
