/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Process recovery: start and end, settings, callbacks, roles, failures. The conventions of <fenix.h> hold.
 */
#ifndef FENIX_PROCESS_H
#define FENIX_PROCESS_H

#include <fenix/codes.h>
#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Builds the resilient communicator and sets the point at which execution resumes after a failure. (Specification 2.1.)
 *
 *   Fenix_Init(role, comm, newcomm, argc, argv, spare_ranks, error)
 *   Fenix_Init(role, comm, newcomm, argc, argv, spare_ranks, spawn, info, error)
 *
 * A macro, because setjmp has to run in the frame of the caller: that function must not return while Fenix is in use in
 * resume mode "jump". Collective over comm; called once, after MPI_Init or MPI_Init_thread.
 *
 * @param[out]   role        int*: the Fenix_Rank_role of this rank; written again after each repair
 * @param[in]    comm        communicator to build upon, spare ranks included; not MPI_COMM_SELF. Same on all ranks.
 * @param[out]   newcomm     MPI_Comm*: the resilient communicator: the ranks of comm but the last spare_ranks, in order.
 *                           Owned by the library; written again after each repair. Surviving ranks keep their number as
 *                           long as there are spares. Communicators derived from it are resilient as well: their calls end
 *                           when a rank has died anywhere; they are not rebuilt, the application derives them anew.
 * @param[inout] argc, argv  as given to main, or NULL; nothing is removed from them
 * @param[in]    spare_ranks ranks held in reserve, in [0, size of comm). They wait inside Fenix_Init until they take the
 *                           place of a dead rank, and exit by themselves at the end (FENIX_SPARE_FINALIZE_MODE).
 * @param[in]    spawn       0: the communicator shrinks when the spares are used up. Else: missing ranks are spawned with
 *                           MPI_Comm_spawn and the keys of info; they run main from its start, and take their places when
 *                           they reach Fenix_Init. Same on all ranks. Parts of that cannot be called off: a rank that is
 *                           held up in them for 1.5 × FENIX_TIMEOUT ends itself, and counts as dead.
 * @param[in]    info        MPI_Info or MPI_INFO_NULL. Keys: "FENIX_RESUME_MODE" (JUMP, RETURN, THROW) or "resume_mode"
 *                           (fenix_init), "FENIX_UNHANDLED_MODE" (SILENT, PRINT, ABORT). Same on all ranks. All keys are
 *                           handed to MPI_Comm_spawn as well.
 * @param[out]   error       int*, or NULL: FENIX_SUCCESS; FENIX_WARNING_SPARE_RANKS_DEPLETED after a repair that had to
 *                           shrink; FENIX_ERROR_SPAWNING_FAILED if it had to shrink because spawning failed; an error if
 *                           the arguments were wrong (then Fenix is not initialised, newcomm is MPI_COMM_NULL, and all
 *                           ranks of comm get an error), or if a rank died in Fenix_Init (FENIX_ERROR_NOCATEGORY). Same
 *                           value on all ranks that return.
 */
/* Fenix_Init is defined in <fenix/init.h>. */

/** Sets *flag to 1 if Fenix_Init has been called with success, else 0. Local; may be called at any time. (Spec. 2.1.)
 *  @return FENIX_SUCCESS; FENIX_ERROR_INVALID_ARGUMENT if flag is NULL. */
int Fenix_Initialized(int* flag);

/** Sets *flag to 1 if Fenix_Finalize has completed, else 0. Local; may be called at any time.
 *  @return FENIX_SUCCESS; FENIX_ERROR_INVALID_ARGUMENT if flag is NULL. */
int Fenix_Finalized(int* flag);

/**
 * Ends the use of Fenix: releases the spare ranks, all groups with all their snapshots, and the resilient communicator.
 * Collective over the resilient communicator; before MPI_Finalize. A failure before all active ranks have entered is
 * repaired, and control resumes as after any failure. (Specification 2.4.)
 * Where FENIX_RECOVERY_MODE excludes repairs, the living finish without the dead.
 * @return FENIX_SUCCESS; FENIX_ERROR_UNINITIALIZED; FENIX_ERROR_TIMEOUT if an active rank does not come: what is left is
 *         MPI_Abort.
 */
int Fenix_Finalize(void);

/**
 * Sets a setting of this process; give the same on all ranks. Local; allowed before Fenix_Init. The two settings for spare
 * ranks have an effect only then. Fenix_Init's info overrides.
 * @param setting a Fenix_Setting_name
 * @param option  a value of the enumeration that belongs to the setting
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_SETTING_NAME; FENIX_ERROR_INVALID_SETTING_OPTION.
 */
int Fenix_set_option(Fenix_Setting_name setting, unsigned option);

/** Gets a setting. Local; allowed before Fenix_Init.
 *  @return FENIX_SUCCESS; FENIX_ERROR_INVALID_SETTING_NAME; FENIX_ERROR_INVALID_ARGUMENT if option is NULL. */
int Fenix_get_option(Fenix_Setting_name setting, unsigned* option);

/**
 * Registers a function that survivors call after a repair, right before control resumes. Local; callbacks are called in the
 * reverse order of registration, as the current Fenix does. Recovered ranks have none until they register them. (Spec. 2.2.)
 * @param recover       called as recover(resilient communicator, error, callback_data); error is the MPI error code that
 *                      led to the repair. It should not communicate: other ranks may have other callbacks.
 * @param callback_data passed on; the caller keeps it alive; may be NULL
 * @return FENIX_SUCCESS; FENIX_ERROR_CALLBACK_NOT_REGISTERED if recover is NULL; FENIX_ERROR_UNINITIALIZED.
 */
int Fenix_Callback_register(void (*recover)(MPI_Comm, int, void*), void* callback_data);

/** Removes the callback registered last. Local.
 *  @return FENIX_SUCCESS; FENIX_ERROR_CALLBACK_NOT_REGISTERED if there is none; FENIX_ERROR_UNINITIALIZED. */
int Fenix_Callback_pop(void);

/** Calls the callbacks of this rank as after the latest repair, for ranks that want what the survivors got. Local.
 *  @return FENIX_SUCCESS; FENIX_ERROR_INVALID_LOGIC_CALL if there was no repair; FENIX_ERROR_UNINITIALIZED. */
int Fenix_Callback_invoke_all(void);

/** Role of this rank. Local. FENIX_ROLE_INITIAL_RANK before Fenix_Init. */
Fenix_Rank_role Fenix_get_role(void);

/** The error of Fenix_Init, as written after the latest repair. Local. FENIX_ERROR_UNINITIALIZED before Fenix_Init. */
int Fenix_get_error(void);

/** Number of spare ranks that are waiting, less those known here to be dead. Local, from the knowledge of this rank.
 *  FENIX_ERROR_UNINITIALIZED before Fenix_Init. */
int Fenix_get_nspare(void);

/**
 * Role of a rank. Local: no communication. (Specification 2.3.)
 * @param[in]  comm a resilient communicator: that of Fenix_Init or one derived from it
 * @param[in]  rank rank in comm
 * @param[out] role its Fenix_Rank_role
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_ARGUMENT for a bad comm, rank or NULL; FENIX_ERROR_UNINITIALIZED.
 */
int Fenix_Get_role(MPI_Comm comm, int rank, int* role);

/** Fenix_Get_role under the current Fenix's name. */
int Fenix_get_rank_role(MPI_Comm comm, int rank, int* role);

/**
 * Number of ranks of a resilient communicator with a role. Local: no communication. (Specification 2.3.)
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_ARGUMENT for a bad comm, role or NULL; FENIX_ERROR_UNINITIALIZED.
 */
int Fenix_Get_number_of_ranks_with_role(MPI_Comm comm, int role, int* number_of_ranks);

/** Fenix_Get_number_of_ranks_with_role for the resilient communicator, under the current Fenix's name. */
int Fenix_get_number_of_ranks_with_role(int role, int* number_of_ranks);

/**
 * Ranks that were replaced or removed by the latest repair. Local.
 * @param[out] fail_list set to an array owned by the library, ascending, valid until the next repair. Active ranks have the
 *                       number that they had in the resilient communicator before that repair; the i-th spare has number
 *                       (size of the resilient communicator) + i.
 * @return the number of entries, 0 if there was no repair; FENIX_ERROR_INVALID_ARGUMENT; FENIX_ERROR_UNINITIALIZED.
 */
int Fenix_Process_fail_list(int** fail_list);

/**
 * When the latest failure was noticed here and when its repair was complete, in seconds of MPI_Wtime (new). Local.
 * @param[out] noticed  entry into the repair on this rank
 * @param[out] repaired end of the repair: the resilient communicator is whole again, callbacks not yet run
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_LOGIC_CALL if there was no repair; FENIX_ERROR_INVALID_ARGUMENT for NULL;
 *         FENIX_ERROR_UNINITIALIZED.
 */
int Fenix_Process_repair_times(double* noticed, double* repaired);

/**
 * Looks for failures, so that long computations without MPI calls need not delay the repair. Local unless it finds one.
 * @param do_recovery if not 0, a failure is repaired and control resumes as FENIX_RESUME_MODE says
 * @return MPI_SUCCESS, or the MPI error code (MPIX_ERR_PROC_FAILED, MPIX_ERR_REVOKED): MPI's codes, not Fenix's;
 *         FENIX_ERROR_UNINITIALIZED.
 */
int Fenix_Process_detect_failures(int do_recovery);

/**
 * Tells of an MPI request from before a repair whether it completed. Local; frees the request as MPI_Test does.
 * @param[inout] request the request
 * @param[out]   status  or MPI_STATUS_IGNORE
 * @return 1 if it was cancelled by the failure or its fate is not known; 0 if it completed; FENIX_ERROR_INVALID_ARGUMENT
 *         if request is NULL.
 */
int Fenix_check_cancelled(MPI_Request* request, MPI_Status* status);

/**
 * Text of the last error that a Fenix_ function returned on this rank (new). Local; may be called at any time.
 * @return a text owned by the library, valid until the next Fenix_ call; "" if there was none. Never NULL.
 */
const char* Fenix_Error_message(void);

#ifdef __cplusplus
}
#endif

#endif
