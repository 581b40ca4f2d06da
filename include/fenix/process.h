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
 * Fenix_Init is a macro, because setjmp has to run in the frame of the caller. The function that calls it must not
 * return while Fenix is in use in resume mode "jump". Collective over comm; called once, after MPI_Init or
 * MPI_Init_thread.
 *
 * @param[out]    role        int*: the Fenix_Rank_role of this rank; written again after each repair
 * @param[in]     comm        communicator to build upon, spare ranks included; not MPI_COMM_SELF. Same on all ranks.
 * @param[out]    newcomm     MPI_Comm*: the resilient communicator. It has the ranks of comm without the last
 *                            spare_ranks, in the same order. Owned by the library; written again after each repair.
 *                            Surviving ranks keep their number as long as there are spares. Communicators derived from
 *                            it are resilient as well: their calls end when a rank has died anywhere. They are not
 *                            rebuilt; the application derives them anew. With the library libfenix_mpi
 *                            (docs/interposition.md) newcomm may be NULL. Then comm is the resilient communicator in
 *                            all calls of MPI. A newcomm keeps its value in repairs. Derived communicators are
 *                            repaired, and keep their handles.
 * @param[in,out] argc        int*: as given to main, or NULL; not changed
 * @param[in,out] argv        char***: as given to main, or NULL; nothing is removed from it
 * @param[in]     spare_ranks ranks held in reserve, in [0, size of comm). Same on all ranks. They wait inside
 *                            Fenix_Init until they take the place of a dead rank. At the end they behave as
 *                            FENIX_SPARE_FINALIZE_MODE says; by default, they exit by themselves.
 * @param[in]     spawn       0: the communicator shrinks when the spares are used up. Any other value: missing ranks
 *                            are then spawned with MPI_Comm_spawn and the keys of info. They run main from its start,
 *                            and take their places when they reach Fenix_Init. Same on all ranks. Parts of spawning
 *                            cannot be cancelled: a rank that is blocked in them for 1.5 × FENIX_TIMEOUT terminates
 *                            itself, and counts as dead.
 * @param[in]     info        MPI_Info or MPI_INFO_NULL. Keys: "FENIX_RESUME_MODE" (JUMP, RETURN, THROW) or
 *                            "resume_mode" (fenix_init), "FENIX_UNHANDLED_MODE" (SILENT, PRINT, ABORT), in upper or
 *                            lower case. They override the settings made by Fenix_set_option. Same on all ranks. All
 *                            keys are passed on to MPI_Comm_spawn as well.
 * @param[out]    error       int*, or NULL; written again after each repair, with the same value on all ranks that
 *                            return. FENIX_SUCCESS; FENIX_WARNING_SPARE_RANKS_DEPLETED after a repair in which the
 *                            communicator has shrunk; FENIX_ERROR_SPAWNING_FAILED if it has shrunk because spawning
 *                            failed. FENIX_ERROR_INVALID_ARGUMENT, FENIX_ERROR_INVALID_SETTING_OPTION or
 *                            FENIX_ERROR_MISMATCH if the arguments were wrong; FENIX_ERROR_NOCATEGORY if a rank died in
 *                            Fenix_Init. After these errors all ranks of comm get an error, Fenix is not initialised,
 *                            newcomm is MPI_COMM_NULL, and Fenix_Init may be called again.
 *                            FENIX_ERROR_INVALID_LOGIC_CALL if Fenix_Init has been called with success before; newcomm
 *                            then stays as it is.
 */
/* Fenix_Init is defined in <fenix/init.h>. */

/**
 * Tells whether Fenix_Init has been called with success. Local; may be called at any time. (Specification 2.1.)
 * @param[out] flag 1 if it has, otherwise 0
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_ARGUMENT if flag is NULL.
 */
int Fenix_Initialized(int* flag);

/**
 * Tells whether Fenix_Finalize has completed. Local; may be called at any time.
 * @param[out] flag 1 if it has, otherwise 0
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_ARGUMENT if flag is NULL.
 */
int Fenix_Finalized(int* flag);

/**
 * Ends the use of Fenix: releases the spare ranks, all groups with all their snapshots, and the resilient communicator.
 * Collective over the resilient communicator, synchronising; before MPI_Finalize. A failure before all active ranks
 * have entered is repaired, and control resumes as after any failure. (Specification 2.4.)
 * Where FENIX_RECOVERY_MODE excludes repairs, the surviving ranks finish without the dead ones.
 * @return FENIX_SUCCESS; FENIX_ERROR_UNINITIALIZED; FENIX_ERROR_TIMEOUT if an active rank does not arrive: then the
 *         only way to end the job is MPI_Abort.
 */
int Fenix_Finalize(void);

/**
 * Sets a setting of this process. Local; may be called at any time. Use the same value on all ranks. The two settings
 * for spare ranks have an effect only before Fenix_Init. The info argument of Fenix_Init overrides settings.
 * @param[in] setting a Fenix_Setting_name
 * @param[in] option  a value of the enumeration that belongs to the setting
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_SETTING_NAME; FENIX_ERROR_INVALID_SETTING_OPTION.
 */
int Fenix_set_option(Fenix_Setting_name setting, unsigned option);

/**
 * Gets a setting of this process. Local; may be called at any time.
 * @param[in]  setting a Fenix_Setting_name
 * @param[out] option  a value of the enumeration that belongs to the setting
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_SETTING_NAME; FENIX_ERROR_INVALID_ARGUMENT if option is NULL.
 */
int Fenix_get_option(Fenix_Setting_name setting, unsigned* option);

/**
 * Registers a function that survivors call after a repair, immediately before control resumes. Local. Callbacks are
 * called in the reverse order of registration, as the current Fenix does. Recovered ranks have no callbacks until they
 * register them. (Specification 2.2.)
 * @param[in] recover       called as recover(resilient communicator, error, callback_data); error is the MPI error code
 *                          that led to the repair. It should not communicate, because other ranks may have other
 *                          callbacks.
 * @param[in] callback_data passed on to recover; may be NULL. Owned by the caller, and needed until the callback is
 *                          removed or Fenix_Finalize has completed.
 * @return FENIX_SUCCESS; FENIX_ERROR_CALLBACK_NOT_REGISTERED if recover is NULL; FENIX_ERROR_UNINITIALIZED.
 */
int Fenix_Callback_register(void (*recover)(MPI_Comm, int, void*), void* callback_data);

/**
 * Removes the callback that was registered last. Local.
 * @return FENIX_SUCCESS; FENIX_ERROR_CALLBACK_NOT_REGISTERED if there is none; FENIX_ERROR_UNINITIALIZED.
 */
int Fenix_Callback_pop(void);

/**
 * Calls the callbacks of this rank with the same arguments as after the latest repair. Local. Recovered ranks use it to
 * run the same callbacks as the survivors.
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_LOGIC_CALL if there was no repair; FENIX_ERROR_UNINITIALIZED.
 */
int Fenix_Callback_invoke_all(void);

/**
 * Gets the role of this rank. Local; may be called at any time.
 * @return the role; FENIX_ROLE_INITIAL_RANK before Fenix_Init.
 */
Fenix_Rank_role Fenix_get_role(void);

/**
 * Gets the error argument of Fenix_Init, as written after the latest repair. Local.
 * @return the value of error; FENIX_ERROR_UNINITIALIZED before Fenix_Init and after Fenix_Finalize.
 */
int Fenix_get_error(void);

/**
 * Gets the number of spare ranks that are waiting, without those that this rank knows to be dead. Local.
 * @return the number, ≥ 0; FENIX_ERROR_UNINITIALIZED before Fenix_Init and after Fenix_Finalize.
 */
int Fenix_get_nspare(void);

/**
 * Gets the role of a rank. Local. (Specification 2.3.)
 * @param[in]  comm the resilient communicator or one derived from it, not from before the latest repair
 * @param[in]  rank rank in comm
 * @param[out] role its Fenix_Rank_role
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_ARGUMENT for an invalid comm or rank, or NULL; FENIX_ERROR_UNINITIALIZED.
 */
int Fenix_Get_role(MPI_Comm comm, int rank, int* role);

/**
 * Does the same as Fenix_Get_role, under the name of the current Fenix. Local.
 * @param[in]  comm the resilient communicator or one derived from it, not from before the latest repair
 * @param[in]  rank rank in comm
 * @param[out] role its Fenix_Rank_role
 * @return as Fenix_Get_role.
 */
int Fenix_get_rank_role(MPI_Comm comm, int rank, int* role);

/**
 * Counts the ranks of a communicator that have a role. Local. (Specification 2.3.)
 * @param[in]  comm            the resilient communicator or one derived from it, not from before the latest repair
 * @param[in]  role            a Fenix_Rank_role
 * @param[out] number_of_ranks number of ranks of comm with this role
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_ARGUMENT for an invalid comm or role, or NULL; FENIX_ERROR_UNINITIALIZED.
 */
int Fenix_Get_number_of_ranks_with_role(MPI_Comm comm, int role, int* number_of_ranks);

/**
 * Counts the ranks of the resilient communicator that have a role, under the name of the current Fenix. Local.
 * @param[in]  role            a Fenix_Rank_role
 * @param[out] number_of_ranks number of ranks of the resilient communicator with this role
 * @return as Fenix_Get_number_of_ranks_with_role.
 */
int Fenix_get_number_of_ranks_with_role(int role, int* number_of_ranks);

/**
 * Lists the ranks that were replaced or removed by the latest repair. Local.
 * @param[out] fail_list set to an array in ascending order; owned by the library, valid until the next repair. Active
 *                       ranks have the number that they had in the resilient communicator before that repair. The i-th
 *                       spare, counted from 0, has number (size of the resilient communicator before that repair) + i.
 * @return the number of entries, 0 if there was no repair; FENIX_ERROR_INVALID_ARGUMENT if fail_list is NULL;
 *         FENIX_ERROR_UNINITIALIZED.
 */
int Fenix_Process_fail_list(int** fail_list);

/**
 * Tells when this rank noticed the latest failure and when its repair was complete, in seconds of MPI_Wtime (new).
 * Local.
 * @param[out] noticed  time in seconds at which this rank entered the repair
 * @param[out] repaired time in seconds at which the resilient communicator was complete again; callbacks run after that
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_LOGIC_CALL if there was no repair; FENIX_ERROR_INVALID_ARGUMENT for NULL;
 *         FENIX_ERROR_UNINITIALIZED.
 */
int Fenix_Process_repair_times(double* noticed, double* repaired);

/**
 * Looks for failures, so that long computations without MPI calls do not delay the repair. Local, unless it finds a
 * failure.
 * @param[in] do_recovery if not 0, a failure is repaired, and control resumes as FENIX_RESUME_MODE says
 * @return MPI_SUCCESS, or the MPI error code (MPIX_ERR_PROC_FAILED, MPIX_ERR_REVOKED): these are codes of MPI, not of
 *         Fenix; FENIX_ERROR_UNINITIALIZED.
 */
int Fenix_Process_detect_failures(int do_recovery);

/**
 * Tells whether an MPI request from before a repair has completed. Local; frees the request as MPI_Test does.
 * @param[in,out] request the request; owned by the caller
 * @param[out]    status  its status, or MPI_STATUS_IGNORE
 * @return 0 if it completed; 1 if it was cancelled by the failure or its state is not known;
 *         FENIX_ERROR_INVALID_ARGUMENT if request is NULL; FENIX_ERROR_UNINITIALIZED.
 */
int Fenix_check_cancelled(MPI_Request* request, MPI_Status* status);

/**
 * Gets the text of the last error that a Fenix_ function returned on this thread (new). Local; may be called at any
 * time.
 * @return a text owned by the library, valid until the next Fenix_ call of this thread; "" if there was no error. Never
 *         NULL.
 */
const char* Fenix_Error_message(void);

#ifdef __cplusplus
}
#endif

#endif
